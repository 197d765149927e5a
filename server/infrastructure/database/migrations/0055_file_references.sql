-- Objects are found by the files that they refer to, as `identity_verification.file_guid:<guid>`. Triggers of 0044_filters
-- write the values, also for nodes of the previous version.
create or replace function filter_values_of(type text, details jsonb, labels text[]) returns setof text
language sql immutable
begin atomic
  select distinct type || '.' || filter || ':' || value
  from (
    select case when key in ('source_account_guid', 'destination_account_guid') then 'account_guid' else key end, value
    from jsonb_each_text(details)
    where key in ('account_guid', 'source_account_guid', 'destination_account_guid', 'quote_guid', 'plan_guid', 'symbol',
                  'asset', 'transfer_type', 'side')
    union all
    select 'label', label from unnest(labels) as label
    union all
    select 'file_guid', file_guid from jsonb_array_elements_text(
      case when jsonb_typeof(details -> 'file_guids') = 'array' then details -> 'file_guids' else '[]' end
    ) as file_guid
  ) as found(filter, value);
end;
