-- Resent events, for the event stream: one row for each delivery that a redelivery created, with its guid. A table of its
-- own, because the stream finds new rows by their transaction and the rows of deliveries are updated.
create table event_resends (
  guid uuid primary key,
  organization_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  event_guid uuid not null,
  subscription_guid uuid not null,
  created_at timestamptz not null
) partition by range (guid);
create index event_resends_by_organization on event_resends (organization_guid, environment, guid);

-- Events of the core may have a guid that is up to seven days older than created_at. The stream reads guids of the last
-- seconds, and these few by their own index. The distance is MAX_GUID_AGE_MS of `stream-store.ts`. The first 48 bits of a
-- guid are compared as bytes. Every insert evaluates it: only immutable functions, so that it is inlined.
create function event_guid_is_old(guid uuid, created_at timestamptz) returns boolean language sql immutable
return uuid_send(guid)
  < substr(int8send((date_part('epoch', created_at - timestamptz 'epoch') * 1000)::bigint - 10 * 1000), 3);

-- Existing partitions get it from `partition-indexes.ts`, without blocking writers.
create index events_with_old_guid on only events (organization_guid, environment, created_at)
  where event_guid_is_old(guid, created_at);

-- The 64 bits of a row's transaction (xmin), the last one before `next`. An older transaction with the same 32 bits would
-- seem newer, so that its event is repeated and never missed.
create function full_transaction_id(id xid, next xid8) returns xid8 language sql immutable
return (next::text::bigint - (next::text::bigint - id::text::bigint) % 4294967296)::text::xid8;
