-- Migrations exclude each other by an advisory lock alone.
drop table if exists schema_migrations_lock;
