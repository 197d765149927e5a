-- An object that changed while the previous migration read it may have a value that it no longer has, or an earlier
-- customer.
delete from object_filter_values as listed
using objects
where objects.guid = listed.guid
  and listed.value not in (select filter_values_of(objects.type, objects.details, objects.labels));

update object_filter_values as listed
set bank_guid = objects.bank_guid, customer_guid = objects.customer_guid
from objects
where objects.guid = listed.guid
  and (listed.bank_guid, listed.customer_guid) is distinct from (objects.bank_guid, objects.customer_guid);
