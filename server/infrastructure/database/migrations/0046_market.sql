-- The prices of production, as the platform's core reports them. The prices of sandbox are computed.
create table prices (
  symbol text primary key,
  buy_price numeric(38) not null check (buy_price >= sell_price),
  sell_price numeric(38) not null check (sell_price > 0),
  reported_at timestamptz not null
);

-- The primary key makes sure that concurrent trades and transfers cannot use the same quote. Without a foreign key,
-- which would lock `objects`.
create table quote_uses (
  organization_guid uuid not null,
  quote_guid uuid not null,
  object_guid uuid not null,
  used_at timestamptz not null,
  primary key (organization_guid, quote_guid)
);
