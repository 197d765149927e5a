-- How many events each minute brought, for charts. Apart from the events, and not written in their transactions: one
-- row that every event of an Organization changes would line up their commits.
create table event_counters (
  organization_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  minute timestamptz not null,
  events integer not null,
  primary key (organization_guid, environment, minute)
) partition by range (minute);
