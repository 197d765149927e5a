-- The values that an update replaced; null for other actions, and for records of the previous version.
alter table audit_records add column before jsonb;
