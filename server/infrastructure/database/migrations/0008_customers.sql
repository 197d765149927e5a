-- The customers of a Bank. Everything names the Organization too, so that every query can start with it.
create table customers (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  bank_guid uuid not null references banks,
  environment text not null check (environment in ('production', 'sandbox')),
  type text not null check (type in ('individual', 'business')),
  name text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index customers_by_organization on customers (organization_guid, guid);
create index customers_by_environment on customers (organization_guid, environment, guid);
create index customers_by_bank on customers (bank_guid, guid);
