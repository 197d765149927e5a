-- Endpoints in the sandbox that the service itself hosts. The token is the unguessable part of their URL; it only allows
-- sending to the inbox, and subscriptions have it in their URL.
create table inboxes (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  name text not null,
  token text not null unique,
  answer text not null,
  created_at timestamptz not null
);
create index inboxes_of_organization on inboxes (organization_guid, guid);

-- The newest requests of each inbox, for a day. The time of a request is in its guid.
create table inbox_requests (
  guid uuid primary key,
  inbox_guid uuid not null references inboxes on delete cascade,
  headers jsonb not null,
  body bytea not null,
  signature text not null,
  subscription_guid uuid,
  event_guid uuid,
  event_type text,
  address text,
  answer text not null,
  received_at timestamptz not null
);
create index inbox_requests_of_inbox on inbox_requests (inbox_guid, guid);
