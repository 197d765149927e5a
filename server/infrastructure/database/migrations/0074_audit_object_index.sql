-- An Organization's own records by object. Some ids are the same for all Organizations, such as `unknown` of failed logins.
-- Built on existing partitions by `partition-indexes.ts`. The operator searches all of them by `audit_records_by_object`.
create index audit_records_by_organization_object on only audit_records (organization_guid, object_id, guid);
