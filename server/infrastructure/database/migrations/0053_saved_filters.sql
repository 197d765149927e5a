-- Filters of dashboard lists that a member saved, deleted with the membership. `filters` has the query parameters of the
-- list's page.
create table saved_filters (
  guid uuid primary key,
  organization_guid uuid not null,
  member_guid uuid not null,
  list text not null,
  name text not null,
  filters jsonb not null,
  created_at timestamptz not null,
  foreign key (organization_guid, member_guid) references memberships on delete cascade,
  unique (member_guid, organization_guid, list, name)
);
