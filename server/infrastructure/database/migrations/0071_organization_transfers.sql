-- Organizations that move to another database. While `frozen_at` is set, an Organization accepts no calls and sends
-- nothing. `removing_at` is set while its rows are deleted after the move; it cannot be unfrozen any more.
alter table organizations
  add column frozen_at timestamptz,
  add column removing_at timestamptz;
create index organizations_frozen on organizations (guid) where frozen_at is not null;

-- Repeats `frozen_at` of the Organization: claims and new events read the subscriptions, but not the Organization.
alter table subscriptions add column frozen boolean not null default false;

-- The key of `secret_hash` for a key pair that was imported from a database with another master key. Null after its next
-- use, which hashes the secret under the own master key.
alter table applications add column secret_hash_key_encrypted bytea;

-- The wider check is added before the old one is dropped, and is not validated: the old one has checked every row.
alter table revocations
  add constraint revocations_kind_known check (kind in ('application', 'token', 'edit', 'freeze')) not valid;
alter table revocations drop constraint revocations_kind_check;
