-- An object that changed while the previous migration read it may have a value that it no longer has.
delete from object_filter_values as listed
using objects
where objects.guid = listed.guid
  and (listed.value not in (select filter_values_of(objects.type, objects.details, objects.labels))
    or listed.customer_guid is distinct from objects.customer_guid);
