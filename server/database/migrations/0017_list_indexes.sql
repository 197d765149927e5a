-- Every filter of a list is served by an index that ends with the guid: what a page costs depends neither on how rare
-- its rows are nor on what other tenants have.

-- Objects that the platform's core reported come with its guid, whose time may differ from created_at. Only these are
-- not found in the guids of a window of time.
alter table objects add column guid_time_differs boolean not null default false;
update objects set guid_time_differs = true
where abs(('x' || left(replace(guid::text, '-', ''), 12))::bit(48)::bigint - extract(epoch from created_at) * 1000)
  > 5 * 60 * 1000;

-- Lists of both environments read each of them by its own index. With this one PostgreSQL would pass by all objects of
-- one environment to find those of the other. Nodes of the version before sort instead, until they are replaced.
drop index objects_by_organization;
create index objects_by_environment_state on objects (organization_guid, environment, type, state, guid)
  where state is not null;
create index objects_by_bank_state on objects (organization_guid, bank_guid, type, state, guid)
  where state is not null;
create index objects_by_customer_state on objects (organization_guid, customer_guid, type, state, guid)
  where state is not null;
create index objects_by_environment_type on objects
  (organization_guid, environment, type, (details ->> 'type'), guid) where details ->> 'type' is not null;
create index objects_by_bank_type on objects
  (organization_guid, bank_guid, type, (details ->> 'type'), guid) where details ->> 'type' is not null;
create index objects_by_customer_type on objects
  (organization_guid, customer_guid, type, (details ->> 'type'), guid) where details ->> 'type' is not null;
create index objects_by_creation on objects (organization_guid, type, created_at) where guid_time_differs;

-- Of partitioned tables only the parent is changed here, which holds up nobody. New partitions have these indexes;
-- `partition-indexes.ts` builds them on the ones that there are, without a lock that a writer would wait for.
create index events_by_type on only events (organization_guid, environment, event_type, guid);
create index events_by_bank on only events (organization_guid, environment, bank_guid, guid)
  where bank_guid is not null;
create index deliveries_by_type on only deliveries (subscription_guid, event_type, guid);
create index deliveries_by_bank on only deliveries (subscription_guid, bank_guid, guid) where bank_guid is not null;
