-- Counts of deliveries, besides those of attempts. Nodes of the previous version leave them at 0: their successes count
-- as first attempts.
alter table delivery_counters
  -- failed for good
  add column failed integer not null default 0,
  -- completed after a failed attempt
  add column completed_by_retry integer not null default 0,
  -- attempts without an answer in time
  add column timeouts integer not null default 0;

-- Failed attempts of each endpoint by kind and status, in the current time of failures or the last one. Written only with
-- failures: a healthy endpoint costs nothing.
create table endpoint_errors (
  subscription_guid uuid not null,
  kind text not null check (kind in ('timeout', 'unreachable', 'rejected')),
  -- 0 without a response
  status smallint not null,
  -- the first failure after the last success; a later one starts the count anew
  failing_since timestamptz not null,
  count integer not null,
  -- the newest of these attempts
  last_at timestamptz not null,
  delivery_guid uuid not null,
  attempt_number integer not null,
  primary key (subscription_guid, kind, status)
) with (fillfactor = 70);
