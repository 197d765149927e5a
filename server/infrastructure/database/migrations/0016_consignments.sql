-- Deliveries of one subscription that a dispatcher got from whoever made them: one row instead of a place in the queue
-- for each. Most are sent and written down within milliseconds, so they come and go without the queue; whatever is left
-- when their dispatcher dies, hands them back or takes too long gets its places then.
create table delivery_consignments (
  guid uuid primary key,
  subscription_guid uuid not null,
  leased_by uuid not null,
  delivery_guids uuid[] not null,
  created_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- Guids do not compress.
alter table delivery_consignments alter column delivery_guids set storage external;
create index delivery_consignments_by_subscription on delivery_consignments (subscription_guid);
