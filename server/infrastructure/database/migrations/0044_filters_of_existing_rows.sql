-- Rows from before 0044_filters. A migration of its own: this one blocks no writer.
insert into object_filter_values (organization_guid, environment, bank_guid, customer_guid, value, guid)
select organization_guid, environment, bank_guid, customer_guid, value, guid
from objects cross join lateral filter_values_of(type, details, labels) as value
on conflict do nothing;

update deliveries set late_completed_at = completed_at
where late_completed_at is null and completed_at - created_at > interval '5 minutes';
