-- Who did what, on what, from where, when. Append-only: the database itself refuses to change a record.
create table audit_records (
  guid uuid primary key,
  organization_guid uuid,
  actor_type text not null check (actor_type in ('operator', 'application', 'user', 'system')),
  actor text not null,
  action text not null,
  object_type text not null,
  object_id text not null,
  changes jsonb not null,
  address inet,
  request_id text,
  created_at timestamptz not null
);
create index audit_records_by_organization on audit_records (organization_guid, guid);
create index audit_records_by_actor on audit_records (actor, guid);
create index audit_records_by_object on audit_records (object_id, guid);
create index audit_records_by_action on audit_records (action, guid);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit records are append-only';
end $$;

create trigger audit_records_are_append_only
  before update or delete or truncate on audit_records
  for each statement execute function refuse_audit_change();
