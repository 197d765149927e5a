-- Deliveries that have failed and wait for their next attempt: a list of them read all waiting ones. The condition names no
-- column that the success of a first attempt changes, so that it stays a heap-only update; `late_completed_at` is also set
-- by a success after a failure. `partition-indexes.ts` builds the index on existing partitions.
create index deliveries_failing on only deliveries (subscription_guid, guid)
  where failing_since is not null and late_completed_at is null and failed_at is null;
