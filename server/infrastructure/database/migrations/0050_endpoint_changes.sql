-- `endpoint_version` grows with every change that dispatchers must not miss: url, paused_at. `replaces_guid` and
-- `replaces_client_id` name what a roll of a signing key or a rotation of a key pair replaces.
alter table subscriptions
  add column paused_at timestamptz,
  add column endpoint_version integer not null default 0,
  add column replaces_guid uuid;

create index subscriptions_paused on subscriptions (guid) where paused_at is not null;

alter table applications
  add column replaces_client_id uuid references applications (client_id) on delete set null;

create unique index applications_by_replaced on applications (replaces_client_id)
  where replaces_client_id is not null;

-- Changed endpoints that a dispatcher has not read yet. Deleted with their dispatcher.
create table endpoint_notices (
  guid uuid primary key,
  dispatcher_guid uuid not null references dispatchers (guid) on delete cascade,
  subscription_guid uuid not null
);

create index endpoint_notices_by_dispatcher on endpoint_notices (dispatcher_guid);
