-- The actor of a failed authentication is unknown. The wider check is added before the old one is dropped,
-- and is not validated against existing rows, which the old one has checked: no scan of the table under its lock.
alter table audit_records
  add constraint audit_records_actor_type_known
  check (actor_type in ('operator', 'application', 'user', 'system', 'anonymous')) not valid;
alter table audit_records drop constraint audit_records_actor_type_check;
