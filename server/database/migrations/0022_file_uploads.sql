-- One upload per link at a time: the lease of the node that receives it, renewed while bytes arrive.
alter table files
  add column upload_leased_by uuid,
  add column upload_leased_until timestamptz,
  -- bytes of content that is arriving or waits to be examined, for the quota of its Organization
  add column pending_bytes bigint;

-- The processing takes turns between Organizations: the earliest file of each, by what has to be done with it.
create index files_arrived on files (organization_guid, next_look_at)
  where next_look_at is not null and uploaded_at is not null;
create index files_awaited on files (organization_guid, next_look_at)
  where next_look_at is not null and uploaded_at is null;
