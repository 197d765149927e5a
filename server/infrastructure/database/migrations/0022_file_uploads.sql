-- One upload per link at a time: the lease of the node that receives it, renewed while bytes arrive.
alter table files
  add column upload_leased_by uuid,
  add column upload_leased_until timestamptz,
  -- bytes of content that is arriving or waits to be examined, for the quota of its Organization
  add column pending_bytes bigint;

-- The indexes that the processing reads are in `table-indexes.ts`, where they are built without holding up writers.
