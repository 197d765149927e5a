-- How far the search for content without a record has come; it goes on where the last node stopped.
create table content_sweeps (
  storage text primary key,
  -- after which place to go on; null: from the beginning
  position text,
  pass_started_at timestamptz not null
);
