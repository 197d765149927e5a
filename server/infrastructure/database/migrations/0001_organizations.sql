-- Organizations and their banks. Guids are UUIDv7, so the primary key is also the order of creation.
create table organizations (
  guid uuid primary key,
  name text not null,
  live boolean not null,
  features text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table banks (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  name text not null,
  environment text not null check (environment in ('production', 'sandbox')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index banks_by_organization on banks (organization_guid, guid);
