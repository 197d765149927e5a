-- The objects of the platform as partners see them: customers, accounts, trades, transfers and the others, one row
-- each. What kinds there are, their states and their details are the code's to know (server/objects/types.ts).
create table objects (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  environment text not null check (environment in ('production', 'sandbox')),
  bank_guid uuid not null references banks,
  -- Of a customer, itself: so "what this customer may see" is one condition for everything.
  customer_guid uuid references objects,
  type text not null,
  state text,
  details jsonb not null,
  labels text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What the simulator does next: where the object is to end, and when it moves. At rest there is neither.
  ending text,
  next_move_at timestamptz,
  constraint simulated_in_sandbox_only check (next_move_at is null or environment = 'sandbox'),
  constraint simulated_to_an_ending check ((ending is null) = (next_move_at is null))
);
create index objects_by_organization on objects (organization_guid, type, guid);
create index objects_by_environment on objects (organization_guid, environment, type, guid);
create index objects_by_bank on objects (organization_guid, bank_guid, type, guid);
create index objects_by_customer on objects (organization_guid, customer_guid, type, guid);
create index objects_to_move on objects (next_move_at, guid) where next_move_at is not null;

-- What nodes of the version before write between the copy and the triggers would be in neither.
lock table customers in share row exclusive mode;
insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, details, labels, created_at, updated_at)
select guid, organization_guid, environment, bank_guid, guid, 'customer',
  jsonb_strip_nulls(jsonb_build_object('type', type, 'name', name)), '{}', created_at, updated_at
from customers;

-- Nodes of the version before go on with the table `customers` for a while. Until it is dropped, by a later migration,
-- each of the two tables follows the other; the depth keeps what follows from being followed in turn.
create function customers_into_objects() returns trigger language plpgsql as $$
begin
  insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, details, labels, created_at, updated_at)
  values (new.guid, new.organization_guid, new.environment, new.bank_guid, new.guid, 'customer',
    jsonb_strip_nulls(jsonb_build_object('type', new.type, 'name', new.name)), '{}', new.created_at, new.updated_at)
  on conflict (guid) do update set details = excluded.details, updated_at = excluded.updated_at;
  return null;
end $$;
create trigger into_objects after insert or update on customers
  for each row when (pg_trigger_depth() = 0) execute function customers_into_objects();

create function objects_into_customers() returns trigger language plpgsql as $$
begin
  insert into customers (guid, organization_guid, bank_guid, environment, type, name, created_at, updated_at)
  values (new.guid, new.organization_guid, new.bank_guid, new.environment,
    new.details ->> 'type', new.details ->> 'name', new.created_at, new.updated_at)
  on conflict (guid) do update set type = excluded.type, name = excluded.name, updated_at = excluded.updated_at;
  return null;
end $$;
create trigger into_customers after insert or update on objects
  for each row when (new.type = 'customer' and pg_trigger_depth() = 0) execute function objects_into_customers();
