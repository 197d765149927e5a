-- As in migration 0051, with the retention that is configured: a node whose clock is ahead must not drop what others
-- keep. Nodes of the previous version call the function with two parameters, which the next version drops.
create function drop_partition(parent text, partition text, days_kept integer)
returns void language plpgsql security definer
set lock_timeout = '100ms' set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
declare
  kept constant interval := greatest(make_interval(days => days_kept), case parent
    when 'audit_records' then interval '30 days'
    when 'request_log' then interval '7 days'
    else interval '8 days' end);
  pending boolean;
  upper_bound text;
  by_guid boolean;
  ended timestamptz;
begin
  perform require_partitioned_table(parent);
  select inhdetachpending, (regexp_match(pg_get_expr(child.relpartbound, 0), ' TO \(''(.+)''\)$'))[1],
    key.atttypid = 'uuid'::regtype
  into pending, upper_bound, by_guid
  from pg_inherits
  join pg_class child on child.oid = inhrelid
  join pg_partitioned_table on partrelid = inhparent
  join pg_attribute key on key.attrelid = inhparent and key.attnum = partattrs[0]
  where inhparent = (select oid from pg_class
      where relname = parent and relnamespace = current_schema()::regnamespace)
    and child.relname = partition and child.relnamespace = current_schema()::regnamespace;
  if not found then
    raise exception 'table % is not a partition of %', quote_ident(partition), parent;
  end if;
  if by_guid then
    ended := to_timestamp(('x' || left(replace(upper_bound, '-', ''), 12))::bit(48)::bigint / 1000.0);
  else
    ended := upper_bound::timestamptz;
  end if;
  -- Without an upper bound a partition never ends.
  if ended is null or ended > clock_timestamp() - kept then
    raise exception 'partition % did not end more than % ago by the clock of the database', quote_ident(partition), kept;
  end if;
  execute format('alter table %I detach partition %I %s', parent, partition,
    case when pending then 'finalize' else '' end);
  execute format('drop table %I', partition);
end $$;

do $$
begin
  execute format('alter function drop_partition(text, text, integer) set search_path = %I, pg_temp', current_schema());
end $$;
revoke all on function drop_partition(text, text, integer) from public;
