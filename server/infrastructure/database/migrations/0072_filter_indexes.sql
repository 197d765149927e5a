-- The indexes of deliveries by type and bank contain a hash of the subscription and the value instead of both: entries of
-- half the size, which are a good part of the write-ahead log of a delivery. Queries compare the values, too, because two
-- may have the same hash. `partition-indexes.ts` builds them on existing partitions. Those of events stay: their totals
-- are counted in the index alone.
create index deliveries_by_type_hash on only deliveries (
  uuid_hash_extended(subscription_guid, hashtextextended(event_type, 0)), guid);
create index deliveries_by_bank_hash on only deliveries (
  uuid_hash_extended(subscription_guid, uuid_hash_extended(bank_guid, 0)), guid)
  where bank_guid is not null;

-- Nodes of the previous version use the indexes that these replace; a later migration drops them. No node uses those of
-- a table without rows.
do $$
begin
  if not exists (select from deliveries) then
    drop index deliveries_by_type, deliveries_by_bank;
  end if;
end $$;
