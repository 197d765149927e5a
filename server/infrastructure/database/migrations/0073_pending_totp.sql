-- When the secret of an authenticator app was created; a secret is confirmed within minutes. Null: by an earlier version.
alter table logins add column totp_begun_at timestamptz;
