-- Redelivery jobs of several kinds, with their author and their effect. Jobs of earlier versions have neither.
alter table subscription_recoveries
  add column kind text not null default 'failed'
    constraint subscription_recoveries_kind_check check (kind in ('failed', 'waiting', 'all')),
  add column actor_type text,
  add column actor text,
  -- deliveries created, or made due
  add column redelivered integer,
  -- set together with failed_at, so that nodes of the previous version do not continue the job
  add column cancelled_at timestamptz;
