-- Every filter of a list has an index that ends with the guid, so that the cost of a page depends neither on how rare
-- its rows are nor on other tenants.

-- Objects that the platform's core reported come with its guid, whose time may differ from created_at. Only these are
-- not found in the guids of a window of time. Migration 0019 marks the existing ones, without the lock of this one.
alter table objects add column guid_time_differs boolean not null default false;

-- The distance is MAX_DISTANCE_MS of `guid-window.ts`.
create function guid_time_differs(guid uuid, created_at timestamptz) returns boolean language sql immutable
return abs(('x' || left(replace(guid::text, '-', ''), 12))::bit(48)::bigint - extract(epoch from created_at) * 1000)
  > 5 * 60 * 1000;

-- A trigger, because nodes of the version before insert objects without this column.
create function set_guid_time_differs() returns trigger language plpgsql as $$
begin
  new.guid_time_differs := guid_time_differs(new.guid, new.created_at);
  return new;
end $$;
create trigger set_guid_time_differs before insert on objects
  for each row execute function set_guid_time_differs();

-- Lists of both environments read each of them by its own index. With this one PostgreSQL would pass by all objects of
-- one environment to find those of the other. Nodes of the version before sort instead, until they are replaced.
drop index objects_by_organization;

-- The indexes of `objects` are in `table-indexes.ts`: they are built concurrently, which a transaction does not allow.

-- Only the parent of a partitioned table is changed here, which blocks no writer. New partitions have these indexes;
-- `partition-indexes.ts` builds them on existing partitions without blocking writers.
create index events_by_type on only events (organization_guid, environment, event_type, guid);
create index events_by_bank on only events (organization_guid, environment, bank_guid, guid)
  where bank_guid is not null;
create index deliveries_by_type on only deliveries (subscription_guid, event_type, guid);
create index deliveries_by_bank on only deliveries (subscription_guid, bank_guid, guid) where bank_guid is not null;
