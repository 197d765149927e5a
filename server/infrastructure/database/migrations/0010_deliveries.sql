-- History is partitioned on the guid itself: its first 48 bits are the time. The primary key stays one column, a look-up
-- by guid reads one partition, and retention drops whole partitions. `partitions.ts` makes and drops them.

-- The events so far become the first partition.
alter table events rename to events_before;
alter index events_pkey rename to events_before_pkey;
alter index events_by_organization rename to events_before_by_organization;
create table events (
  guid uuid primary key,
  organization_guid uuid not null,
  bank_guid uuid,
  event_type text not null,
  object_guid uuid not null,
  -- named as in the table that is attached below, which has to have the same constraints
  environment text not null constraint events_environment_check check (environment in ('production', 'sandbox')),
  created_at timestamptz not null
) partition by range (guid);
create index events_by_organization on events (organization_guid, environment, guid);
create index events_by_object on events (object_guid, guid);

-- The delivery of an event to a subscription. A row repeats the content of the body, so that each attempt sends the
-- same bytes. Indexes are few (lists of an Organization are read by its subscriptions), and none contains a column that
-- a success changes, so that it is a heap-only update (fillfactor reserves the space).
create table deliveries (
  subscription_guid uuid not null,
  guid uuid not null,
  organization_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  event_guid uuid not null,
  bank_guid uuid,
  event_type text not null,
  object_guid uuid not null,
  attempt_count integer not null,
  -- its first failed attempt
  failing_since timestamptz,
  failure_kind text check (failure_kind in ('timeout', 'unreachable', 'rejected')),
  response_status smallint,
  response_time_ms integer,
  response_excerpt text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  failed_at timestamptz,
  primary key (subscription_guid, guid)
) partition by range (guid);
create index deliveries_by_event on deliveries (event_guid);
create index deliveries_failed on deliveries (subscription_guid, guid) where failed_at is not null;

-- Deliveries to be sent. Separate from the record, because this table is small and changes often while that one is
-- large and rarely changes: the cost of a claim depends neither on history nor on the number of partitions.
-- A leased row belongs to a living dispatcher and is in no index but the primary key.
create table delivery_queue (
  subscription_guid uuid not null,
  delivery_guid uuid not null,
  due_at timestamptz not null,
  -- when due_at was decided
  scheduled_at timestamptz not null,
  leased_by uuid,
  primary key (subscription_guid, delivery_guid)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);
create index delivery_queue_due on delivery_queue (subscription_guid, due_at) where leased_by is null;

-- The dispatchers at work. A lease that ran out gives everything that its holder had to the others.
create table dispatchers (
  guid uuid primary key,
  lease_until timestamptz not null
);

-- Failed attempts, and the success that ended them; a first attempt that succeeds is in the delivery itself.
create table delivery_attempts (
  delivery_guid uuid not null,
  number integer not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null check (outcome in ('completed', 'timeout', 'unreachable', 'rejected')),
  response_status smallint,
  response_excerpt text,
  -- why there was no answer, in words
  reason text,
  primary key (delivery_guid, number)
) partition by range (delivery_guid);

-- What happened in each minute, for charts: no chart reads deliveries.
create table delivery_counters (
  subscription_guid uuid not null,
  minute timestamptz not null,
  completed integer not null,
  failed_attempts integer not null,
  -- successes by response time: up to the n-th bound (`counters.ts`), the last beyond all of them
  response_times integer[] not null,
  primary key (subscription_guid, minute)
) partition by range (minute);

-- Everything that failed in a window, sent again: a job that any node goes on with.
create table subscription_recoveries (
  guid uuid primary key,
  organization_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  subscription_guid uuid not null,
  since timestamptz not null,
  until timestamptz not null,
  total integer not null,
  done integer not null,
  -- the last delivery that was dealt with
  reached uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  failed_at timestamptz
);
create index subscription_recoveries_by_organization on subscription_recoveries (organization_guid, guid);
create index subscription_recoveries_running on subscription_recoveries (guid)
  where completed_at is null and failed_at is null;

do $$
declare
  newest uuid;
  week_ms constant bigint := 7 * 24 * 3600 * 1000;
  -- Weeks begin on Monday; the first Monday of the epoch is its fifth day.
  first_monday_ms constant bigint := 4 * 24 * 3600 * 1000;
  upper_ms bigint;
begin
  select guid into newest from events_before order by guid desc limit 1;
  if newest is null then
    drop table events_before;
  else
    upper_ms := ('x' || lpad(left(replace(newest::text, '-', ''), 12), 16, '0'))::bit(64)::bigint;
    upper_ms := first_monday_ms + ((upper_ms - first_monday_ms) / week_ms + 1) * week_ms;
    execute format('alter table events attach partition events_before for values from (minvalue) to (%L)',
      rpad(lpad(to_hex(upper_ms), 12, '0'), 32, '0')::uuid);
  end if;
end $$;
