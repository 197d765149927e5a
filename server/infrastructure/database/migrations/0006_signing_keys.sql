-- The keys that sign access tokens. Which one signs and which are published follows from signs_from alone.
create table signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  private_jwk_encrypted bytea not null,
  signs_from timestamptz not null unique,
  created_at timestamptz not null
);
