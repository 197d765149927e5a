-- Set by an import, and named by the tokens of key pairs since then. The removal of the Organization revokes it, so that
-- tokens from before stay refused and new ones are valid when the Organization moves back.
alter table organizations add column grant_guid uuid;
