-- Requests with an Idempotency-Key and their answers, kept for 24 hours. `status` is null while the request is under way
-- and `claim` holds the key until `locked_until`. `body_encrypted` stays null for an answer that showed a secret.
create table idempotency_keys (
  owner text not null,
  key text not null,
  claim uuid not null,
  fingerprint bytea not null,
  locked_until timestamptz not null,
  status smallint,
  body_encrypted bytea,
  created_at timestamptz not null,
  primary key (owner, key)
);

create index idempotency_keys_by_creation on idempotency_keys (created_at);
