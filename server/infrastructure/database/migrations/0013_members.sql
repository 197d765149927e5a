-- People. An address names one person, whatever Organizations they are in.
create table members (
  guid uuid primary key,
  email text not null unique check (email = lower(email)),
  name text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Who belongs to which Organization, as what. Until accepted_at it is an invitation. The tokens of a membership name
-- its grant_guid; a change of role gives it a new one, and what named the old one is revoked.
create table memberships (
  organization_guid uuid not null references organizations,
  member_guid uuid not null references members,
  role text not null check (role in ('founder', 'key_admin', 'developer', 'viewer')),
  grant_guid uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  accepted_at timestamptz,
  last_seen_at timestamptz,
  primary key (organization_guid, member_guid)
);
create index memberships_by_member on memberships (member_guid);

-- How a person proves who they are. No row, or no hash: they have no password yet.
create table logins (
  member_guid uuid primary key references members on delete cascade,
  password_hash text,
  totp_secret_encrypted bytea,
  totp_confirmed_at timestamptz,
  -- The last time step whose code was used: each code is good once.
  totp_step bigint not null default 0,
  recovery_code_hashes text[] not null default '{}',
  updated_at timestamptz not null
);

create table sessions (
  guid uuid primary key,
  member_guid uuid not null references members on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  address inet,
  user_agent text
);
create index sessions_by_member on sessions (member_guid, guid);
create index sessions_by_expiry on sessions (expires_at);

-- Links that are good once: to accept an invitation, to set a new password.
create table login_links (
  token_hash bytea primary key,
  member_guid uuid not null references members on delete cascade,
  purpose text not null check (purpose in ('invitation', 'password_reset')),
  organization_guid uuid references organizations,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((purpose = 'invitation') = (organization_guid is not null))
);
create index login_links_by_member on login_links (member_guid);
create index login_links_by_expiry on login_links (expires_at);

create table passkeys (
  guid uuid primary key,
  member_guid uuid not null references members on delete cascade,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_by_member on passkeys (member_guid, guid);

-- What an authenticator has to sign, once; without a member: to log in.
create table passkey_challenges (
  guid uuid primary key,
  challenge_hash bytea not null unique,
  member_guid uuid references members on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);
