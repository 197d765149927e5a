-- An object that changed while the previous migration read it may have a file that it no longer refers to.
delete from object_filter_values as listed
using objects
where objects.guid = listed.guid and objects.type = 'identity_verification'
  and listed.value like 'identity_verification.file_guid:%'
  and listed.value not in (select filter_values_of(objects.type, objects.details, objects.labels));
