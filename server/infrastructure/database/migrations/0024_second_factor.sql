-- When the person last gave a second factor (one-time password, recovery code or passkey) in this session. Null: never.
alter table sessions add column second_factor_at timestamptz;

-- Roles whose members need a second factor for every call, and whether changes in production need one.
-- Null in the latter: they do as soon as the Organization is live.
alter table organizations
  add column second_factor_roles text[] not null default '{}',
  add column second_factor_in_production boolean;
