-- Counters of fixed windows, shared by every node. Unlogged: after a crash the windows simply start anew.
create unlogged table rate_limits (
  key text not null,
  window_started_at timestamptz not null,
  used integer not null,
  primary key (key, window_started_at)
);
create index rate_limits_by_window on rate_limits (window_started_at);
