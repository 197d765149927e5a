-- Filters of objects by values in their details and labels, and of deliveries by the time of their completion.

-- One row for each object and value. A table of its own, because the values hardly ever change, while every transition of
-- an object writes all indexes of `objects`. A value is `<type>.<filter>:<value>`, for example `trade.side:buy`.
create table object_filter_values (
  organization_guid uuid not null,
  environment text not null,
  bank_guid uuid not null,
  customer_guid uuid,
  value text not null,
  guid uuid not null,
  primary key (organization_guid, environment, value, guid)
);
create index object_filter_values_by_bank on object_filter_values (organization_guid, bank_guid, value, guid);
create index object_filter_values_by_customer on object_filter_values (organization_guid, customer_guid, value, guid)
  where customer_guid is not null;

-- The fields are those of VALUE_FILTERS in `value-filters.ts`; a test compares them.
create function filter_values_of(type text, details jsonb, labels text[]) returns setof text language sql immutable
begin atomic
  select distinct type || '.' || filter || ':' || value
  from (
    select case when key in ('source_account_guid', 'destination_account_guid') then 'account_guid' else key end, value
    from jsonb_each_text(details)
    where key in ('account_guid', 'source_account_guid', 'destination_account_guid', 'quote_guid', 'plan_guid', 'symbol',
                  'asset', 'transfer_type', 'side')
    union all
    select 'label', label from unnest(labels) as label
  ) as found(filter, value);
end;

-- Triggers, because nodes of the previous version write objects without these rows. They run as the owner of the table,
-- because the service role gets its privileges on the new table only after the migrations.
create function write_filter_values() returns trigger language plpgsql security definer as $$
declare
  added text[] := array(select filter_values_of(new.type, new.details, new.labels));
  removed text[] := '{}';
begin
  if tg_op = 'UPDATE' then
    removed := array(select filter_values_of(old.type, old.details, old.labels));
    if (old.organization_guid, old.environment, old.bank_guid, old.customer_guid)
      is not distinct from (new.organization_guid, new.environment, new.bank_guid, new.customer_guid) then
      select array(select unnest(removed) except select unnest(added)),
             array(select unnest(added) except select unnest(removed))
      into removed, added;
    end if;
    delete from object_filter_values
    where organization_guid = old.organization_guid and environment = old.environment and guid = old.guid
      and value = any(removed);
  end if;
  insert into object_filter_values (organization_guid, environment, bank_guid, customer_guid, value, guid)
  select new.organization_guid, new.environment, new.bank_guid, new.customer_guid, value, new.guid
  from unnest(added) as value
  on conflict do nothing;
  return null;
end $$;
do $$
begin
  execute format('alter function write_filter_values() set search_path = %I, pg_temp', current_schema());
end $$;
create trigger insert_filter_values after insert on objects
  for each row execute function write_filter_values();
create trigger change_filter_values after update on objects for each row
  when ((old.details, old.labels, old.bank_guid, old.customer_guid)
    is distinct from (new.details, new.labels, new.bank_guid, new.customer_guid))
  execute function write_filter_values();

-- Set when a delivery was completed more than five minutes after its creation. Other completions are found by the time in
-- the guid. An index on `completed_at` would contain a column that every success changes (migration 0010).
alter table deliveries add column late_completed_at timestamptz;
create index deliveries_completed_late on only deliveries (subscription_guid, late_completed_at)
  where late_completed_at is not null;

-- For nodes of the previous version. A later migration drops it.
create function set_late_completed_at() returns trigger language plpgsql as $$
begin
  update deliveries set late_completed_at = completed_at
  where subscription_guid = new.subscription_guid and guid = new.guid;
  return null;
end $$;
create trigger set_late_completed_at after update of completed_at on deliveries for each row
  when (new.late_completed_at is null and new.completed_at - new.created_at > interval '5 minutes')
  execute function set_late_completed_at();
