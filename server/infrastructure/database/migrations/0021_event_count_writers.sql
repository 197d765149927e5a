-- The last counts of events that each process has written. A process that does not learn whether a commit happened
-- writes the same again, under the same number, and it is counted once.
create table event_count_writers (
  guid uuid primary key,
  sequence bigint not null,
  written_at timestamptz not null
);
