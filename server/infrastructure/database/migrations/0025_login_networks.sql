-- Networks that a person has logged in from. A login from one of them does not wait behind logins from unknown ones.
create table login_networks (
  member_guid uuid not null references members on delete cascade,
  network text not null,
  used_at timestamptz not null,
  primary key (member_guid, network)
);
create index login_networks_by_use on login_networks (used_at);
