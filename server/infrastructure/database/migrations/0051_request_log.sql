-- Calls to /api and /oauth of the last seven days, one partition per day. The guid is the request id, and its time bits
-- are the time of the request. `environment` is 'both' for a user token that is valid in both. `path` is the pattern of
-- the route. `sample_rate` is the number of similar calls that the row stands for.
create table request_log (
  guid uuid primary key,
  organization_guid uuid not null,
  environment text not null check (environment in ('production', 'sandbox', 'both')),
  bank_guid uuid,
  token_type text,
  client_id uuid,
  member_guid uuid,
  method text not null,
  path text not null,
  object_guid uuid,
  status smallint not null,
  message_code text,
  duration_ms integer not null,
  address text,
  sample_rate smallint not null
) partition by range (guid);

-- Every filter of the list has an index that ends with the guid. GET and 200 are most of the log and are found without
-- one.
create index request_log_by_environment on request_log (organization_guid, environment, guid);
create index request_log_by_client on request_log (organization_guid, environment, client_id, guid)
  where client_id is not null;
create index request_log_by_path on request_log (organization_guid, environment, path, guid);
create index request_log_by_address on request_log (organization_guid, environment, address, guid)
  where address is not null;
create index request_log_by_message_code on request_log (organization_guid, environment, message_code, guid)
  where message_code is not null;
create index request_log_by_status on request_log (organization_guid, environment, status, guid) where status <> 200;
create index request_log_by_method on request_log (organization_guid, environment, method, guid) where method <> 'GET';
create index request_log_by_bank on request_log (organization_guid, environment, bank_guid, guid)
  where bank_guid is not null;

-- As in migration 0029, with the retention of the request log.
create or replace function drop_partition(parent text, partition text)
returns void language plpgsql security definer
set lock_timeout = '100ms' set timezone = 'UTC' set datestyle = 'ISO, YMD' as $$
declare
  kept constant interval := case parent
    when 'audit_records' then interval '30 days'
    when 'request_log' then interval '7 days'
    else interval '8 days' end;
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

do $$
begin
  execute format('alter function drop_partition(text, text) set search_path = %I, pg_temp', current_schema());
end $$;
