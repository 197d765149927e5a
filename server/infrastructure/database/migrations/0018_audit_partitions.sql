-- The audit record in partitions of four weeks, which retention drops as a whole. What there is becomes the first one.
alter table audit_records rename to audit_records_before;
alter index audit_records_pkey rename to audit_records_before_pkey;
alter index audit_records_by_organization rename to audit_records_before_by_organization;
alter index audit_records_by_actor rename to audit_records_before_by_actor;
alter index audit_records_by_object rename to audit_records_before_by_object;
alter index audit_records_by_action rename to audit_records_before_by_action;

create table audit_records (
  guid uuid primary key,
  organization_guid uuid,
  -- named as in the table that is attached below, which has to have the same constraints
  actor_type text not null constraint audit_records_actor_type_check
    check (actor_type in ('operator', 'application', 'user', 'system')),
  actor text not null,
  action text not null,
  object_type text not null,
  object_id text not null,
  changes jsonb not null,
  address inet,
  request_id text,
  created_at timestamptz not null
) partition by range (guid);
create index audit_records_by_organization on audit_records (organization_guid, guid);
create index audit_records_by_actor on audit_records (actor, guid);
create index audit_records_by_object on audit_records (object_id, guid);
create index audit_records_by_action on audit_records (action, guid);

do $$
declare
  newest uuid;
  period_ms constant bigint := 4 * 7 * 24 * 3600 * 1000::bigint;
  -- Weeks begin on Monday; the first Monday of the epoch is its fifth day.
  first_monday_ms constant bigint := 4 * 24 * 3600 * 1000;
  upper_ms bigint;
begin
  select guid into newest from audit_records_before order by guid desc limit 1;
  if newest is null then
    drop table audit_records_before;
  else
    upper_ms := ('x' || lpad(left(replace(newest::text, '-', ''), 12), 16, '0'))::bit(64)::bigint;
    upper_ms := first_monday_ms + ((upper_ms - first_monday_ms) / period_ms + 1) * period_ms;
    execute format('alter table audit_records attach partition audit_records_before for values from (minvalue) to (%L)',
      rpad(lpad(to_hex(upper_ms), 12, '0'), 32, '0')::uuid);
  end if;
end $$;

-- An Organization's own records by action and by actor: those of others are not read. Built on partitions that there
-- are by `partition-indexes.ts`.
create index audit_records_by_organization_action on only audit_records (organization_guid, action, guid);
create index audit_records_by_organization_actor on only audit_records (organization_guid, actor, guid);

-- Append-only as before. The trigger for rows is one of each partition too, so that none can be changed by its own
-- name; `create_partition` (migration 0029) adds the one against truncating to each.
create trigger audit_records_are_append_only
  before update or delete or truncate on audit_records
  for each statement execute function refuse_audit_change();
create trigger audit_rows_are_append_only
  before update or delete on audit_records
  for each row execute function refuse_audit_change();

-- Nodes of the version before go on recording while the following migrations run: they need the partitions of this
-- period and the next. In a new database there are no such nodes.
do $$
declare
  newest uuid;
  period_ms constant bigint := 4 * 7 * 24 * 3600 * 1000::bigint;
  first_monday_ms constant bigint := 4 * 24 * 3600 * 1000;
  -- Guids of the last eight days are accepted, as in `partitions.ts`.
  behind_ms constant bigint := 8 * 24 * 3600 * 1000;
  now_ms constant bigint :=
    extract(epoch from nullif(current_setting('portico.migration_time', true), '')::timestamptz) * 1000;
  from_ms bigint;
  name text;
begin
  if to_regclass('audit_records_before') is null then
    return;
  end if;
  select guid into newest from audit_records_before order by guid desc limit 1;
  from_ms := greatest(now_ms - behind_ms - period_ms,
    ('x' || lpad(left(replace(newest::text, '-', ''), 12), 16, '0'))::bit(64)::bigint);
  from_ms := first_monday_ms + ((from_ms - first_monday_ms) / period_ms + 1) * period_ms;
  while from_ms <= now_ms + period_ms loop
    name := 'audit_records_' || to_char(to_timestamp(from_ms / 1000) at time zone 'UTC', 'YYYY_MM_DD');
    execute format('create table %I partition of audit_records for values from (%L) to (%L)', name,
      rpad(lpad(to_hex(from_ms), 12, '0'), 32, '0')::uuid,
      rpad(lpad(to_hex(from_ms + period_ms), 12, '0'), 32, '0')::uuid);
    execute format('create trigger audit_records_are_append_only before truncate on %I
      for each statement execute function refuse_audit_change()', name);
    from_ms := from_ms + period_ms;
  end loop;
end $$;
