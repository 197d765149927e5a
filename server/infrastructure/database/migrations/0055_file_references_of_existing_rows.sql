-- Rows from before 0055_file_references. A migration of its own: this one blocks no writer.
insert into object_filter_values (organization_guid, environment, bank_guid, customer_guid, value, guid)
select organization_guid, environment, bank_guid, customer_guid, value, guid
from objects cross join lateral filter_values_of(type, details, labels) as value
where type = 'identity_verification' and details ? 'file_guids'
on conflict do nothing;
