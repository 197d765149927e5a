-- One row is one key pair, of an Organization or (with bank_guid) of one of its Banks.
-- The secret itself is nowhere: secret_hash is its HMAC under a key derived from master key secret_key_id.
create table applications (
  client_id uuid primary key,
  organization_guid uuid not null references organizations,
  bank_guid uuid references banks,
  name text not null,
  scopes text[] not null,
  ip_allowlist text[] not null,
  secret_hash bytea not null,
  secret_key_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  last_used_ip text
);
create index applications_by_organization on applications (organization_guid, client_id);
create index applications_by_bank on applications (bank_guid, client_id) where bank_guid is not null;
