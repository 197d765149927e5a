-- What every node has to know before it accepts a token or issues one: a token revoked, a key pair removed, and
-- (kind 'edit') a key pair changed, which takes nothing away but what the nodes remember of it.
-- Revisions are handed out under a lock, so they become visible in order and a node that has seen one has seen
-- all before it.
create table revocations (
  revision bigint generated always as identity primary key,
  kind text not null check (kind in ('application', 'token', 'edit')),
  subject text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index revocations_by_subject on revocations (subject);
create index revocations_by_expiry on revocations (expires_at);

-- The nodes that verify tokens, and up to which revision each has caught up.
create table verifying_nodes (
  guid uuid primary key,
  revision bigint not null,
  lease_until timestamptz not null
);
