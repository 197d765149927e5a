-- Null in the last two: every one of the catalogue, also those that are added to it later.
alter table banks
  add column features text[] not null default '{}',
  add column supported_fiat_account_assets text[],
  add column supported_trading_symbols text[];
