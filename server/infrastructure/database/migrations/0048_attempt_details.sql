-- The request and response of recorded attempts, and who requested a delivery. All columns are null in a delivery that
-- an event created and that succeeds at once, so they cost it nothing.
alter table delivery_attempts
  add column url text,
  -- the address of the connection, or those that were tried
  add column address text,
  add column user_agent text,
  add column response_headers jsonb;

-- requested_as is redelivery, test_event or recovery; the requester is a member, a key or a recovery.
alter table deliveries
  add column requested_as text,
  add column requested_by_type text,
  add column requested_by text;

-- A successful first attempt has no row: its URL is the present one if it is later than this. A trigger, because nodes of
-- the previous version change URLs without this column.
alter table subscriptions add column url_changed_at timestamptz;
create function set_url_changed_at() returns trigger language plpgsql as $$
begin
  new.url_changed_at := new.updated_at;
  return new;
end $$;
create trigger set_url_changed_at before update on subscriptions for each row
  when (old.url is distinct from new.url) execute function set_url_changed_at();
-- The URL may have changed with any earlier update.
update subscriptions set url_changed_at = updated_at where updated_at > created_at;
