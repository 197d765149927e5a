-- The start of a freeze that has not ended. Sending stops before `frozen_at` is set, so a process that ends in between
-- would leave subscriptions that nothing sends to; a task finds them by this column.
alter table organizations add column freezing_at timestamptz;
create index organizations_freezing on organizations (freezing_at) where freezing_at is not null;

-- Those that were left so far.
update organizations set freezing_at = nullif(current_setting('portico.migration_time', true), '')::timestamptz
where frozen_at is null
  and exists (select from subscriptions as s where s.organization_guid = organizations.guid and s.frozen);
