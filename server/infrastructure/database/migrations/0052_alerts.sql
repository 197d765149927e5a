-- Alerts of Organizations. `occurrence` makes an alert unique, so that it is raised once by however many nodes.
-- Without foreign keys, which would wait for locks of `organizations`. `notified_at` is null until the notices exist.
create table alerts (
  guid uuid primary key,
  organization_guid uuid not null,
  environment text check (environment in ('production', 'sandbox')),
  type text not null,
  occurrence text not null,
  subscription_guid uuid,
  details jsonb not null,
  created_at timestamptz not null,
  notified_at timestamptz,
  unique (organization_guid, occurrence)
);
create index alerts_by_organization on alerts (organization_guid, guid);
create index alerts_by_type on alerts (organization_guid, type, guid);
create index alerts_by_subscription on alerts (organization_guid, subscription_guid, guid)
  where subscription_guid is not null;
create index alerts_by_creation on alerts (created_at);
create index alerts_to_notify on alerts (guid) where notified_at is null;

-- One row per recipient and type: the alerts that its next message contains. `recipient` is a member for `email` and
-- the Organization for `slack`. `due_at` is null when nothing is pending; while a node sends, it is the end of its lease.
create table alert_notices (
  organization_guid uuid not null,
  channel text not null check (channel in ('email', 'slack')),
  recipient uuid not null,
  type text not null,
  pending uuid[] not null,
  due_at timestamptz,
  sent_at timestamptz,
  attempts int not null default 0,
  primary key (organization_guid, channel, recipient, type)
);
create index alert_notices_by_age on alert_notices ((coalesce(due_at, sent_at)));
create index alert_notices_due on alert_notices (channel, due_at) where due_at is not null;

-- What a member has read, and the types they get no email about.
create table alert_members (
  organization_guid uuid not null,
  member_guid uuid not null,
  read_through uuid,
  muted_types text[] not null default '{}',
  primary key (organization_guid, member_guid)
);

-- `waiting_thresholds` has the numbers of single subscriptions by guid. `slack_failure` is null after a success.
create table alert_settings (
  organization_guid uuid primary key,
  waiting_threshold int check (waiting_threshold > 0),
  waiting_thresholds jsonb not null default '{}',
  slack_url_encrypted bytea,
  slack_posted_at timestamptz,
  slack_failure text
);

-- Endpoints with an alert that is not over: failing, or more waiting than allowed.
create table alert_endpoints (
  organization_guid uuid not null,
  subscription_guid uuid not null,
  failing_since timestamptz,
  failing_minutes int,
  waiting_since timestamptz,
  primary key (organization_guid, subscription_guid)
);
