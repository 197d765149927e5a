-- Webhook endpoints. The state is not stored: it follows from the moments below and the time.
create table subscriptions (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  environment text not null check (environment in ('production', 'sandbox')),
  name text not null,
  url text not null,
  signing_key_encrypted bytea not null,
  protection_enabled boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- its endpoint answered 2xx for the first time
  activated_at timestamptz,
  -- the first failure since the last success
  deliveries_failing_since timestamptz,
  -- the success that ended a time of failures: whatever waited since before is sent at once
  recovered_at timestamptz,
  failed_at timestamptz,
  disabled_at timestamptz,
  scheduled_deletion_at timestamptz,
  deleted_at timestamptz
);
create index subscriptions_by_organization on subscriptions (organization_guid, guid);
-- What the sweeper looks for.
create index subscriptions_to_delete on subscriptions (scheduled_deletion_at) where deleted_at is null;
create index subscriptions_failing on subscriptions (deliveries_failing_since)
  where failed_at is null and deleted_at is null;
