-- When the person last proved who they are, in this session: by the login itself, or asked once more. Unset: never since
-- this is kept.
alter table sessions add column proved_at timestamptz;
