-- The last change of the URL or end of a pause: retries that were scheduled before are sent early, as after a recovery.
-- `recovered_at` is the time of a success.
alter table subscriptions add column retries_early_before timestamptz;
