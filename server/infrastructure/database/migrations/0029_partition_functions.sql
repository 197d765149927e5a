-- The service role owns nothing, so it makes and drops weekly partitions through these functions, which run with the
-- rights of the owner of the tables. They accept only partitioned tables of this schema and their own partitions.

-- Tables that an earlier version detached and could not drop any more.
do $$
declare
  leftover text;
begin
  for leftover in
    select relname
    from pg_description
    join pg_class on pg_class.oid = objoid
    where classoid = 'pg_class'::regclass and objsubid = 0 and not relispartition and relkind = 'r'
      and description = 'A partition whose time is over: to be dropped.'
      and relnamespace = current_schema()::regnamespace
  loop
    execute format('drop table %I', leftover);
  end loop;
end $$;

create function require_partitioned_table(name text) returns void language plpgsql as $$
begin
  perform from pg_class
  where relname = name and relkind = 'p' and relnamespace = current_schema()::regnamespace
    and relowner = current_user::regrole;
  if not found then
    raise exception 'table % is not a partitioned table', quote_ident(name);
  end if;
end $$;

-- Made apart and attached: `partition of` would lock the parent against every reader and writer. `storage` has entries
-- such as fillfactor=50; a partition inherits none of its parent's.
create function create_partition(parent text, partition text, lower_bound text, upper_bound text, storage text[])
returns void language plpgsql security definer as $$
declare
  option text;
  guard record;
begin
  perform require_partitioned_table(parent);
  if partition is null or partition !~ ('^' || parent || '_[0-9]{4}_[0-9]{2}_[0-9]{2}$') then
    raise exception 'partition % is not named after a week of %', quote_ident(partition), parent;
  end if;
  execute format('create table %I (like %I including all)', partition, parent);
  foreach option in array storage loop
    if option !~ '^[a-z_]+=[0-9.]+$' then
      raise exception 'storage option % is not of the form name=number', quote_literal(option);
    end if;
    execute format('alter table %I set (%I = %s)', partition, split_part(option, '=', 1), split_part(option, '=', 2));
  end loop;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, partition, lower_bound, upper_bound);
  -- Row triggers come with the parent, statement triggers do not: truncating a partition must be refused too.
  for guard in
    select tgname, tgfoid::regprocedure as function
    from pg_trigger
    where tgrelid = format('%I', parent)::regclass and not tgisinternal and tgtype & 32 = 32
  loop
    execute format('create trigger %I before truncate on %I for each statement execute function %s',
      guard.tgname, partition, guard.function);
  end loop;
end $$;

-- Drops a partition whose upper bound is older than the shortest retention that can be configured. The time comes from
-- the database's own clock: SQL that reached the service role could pass any other time and erase the audit record.
-- Detaching concurrently is not possible in a function. A plain detach locks the parent for a moment, and others wait
-- behind it no longer than this lock timeout. Dates are written and read in a fixed style, whatever the session uses.
create function drop_partition(parent text, partition text)
returns void language plpgsql security definer
set lock_timeout = '100ms' set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
declare
  kept constant interval := case parent when 'audit_records' then interval '30 days' else interval '8 days' end;
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
    raise exception 'partition % did not end more than % ago', quote_ident(partition), kept;
  end if;
  execute format('alter table %I detach partition %I %s', parent, partition,
    case when pending then 'finalize' else '' end);
  execute format('drop table %I', partition);
end $$;

-- A pinned path: nothing that a caller creates elsewhere can take the place of a table or function named here.
do $$
declare
  signature text;
begin
  foreach signature in array array[
    'require_partitioned_table(text)',
    'create_partition(text, text, text, text, text[])',
    'drop_partition(text, text)'
  ] loop
    execute format('alter function %s set search_path = %I, pg_temp', signature, current_schema());
    execute format('revoke all on function %s from public', signature);
  end loop;
end $$;
