-- The outbox: one row for each change that is announced to partners, written with the change itself.
create table events (
  guid uuid primary key,
  organization_guid uuid not null,
  bank_guid uuid,
  event_type text not null,
  object_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  created_at timestamptz not null
);
create index events_by_organization on events (organization_guid, environment, guid);
