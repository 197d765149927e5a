-- Renames file_removals to file_deletions. The view keeps the old name for nodes of the previous version: it is
-- automatically updatable, so their inserts, updates, deletes and row locks act on the same rows. A later migration
-- drops it.
alter table file_removals rename to file_deletions;
alter index file_removals_pkey rename to file_deletions_pkey;
alter index file_removals_due rename to file_deletions_due;

create view file_removals as
select guid, due_at from file_deletions;

-- Privileges move with the renamed table, not to the view: the service role needs them before the next `portico migrate`
-- step grants them.
do $$
declare
  role text;
begin
  for role in
    select distinct pg_get_userbyid(acl.grantee)
    from pg_class cross join lateral aclexplode(relacl) as acl
    where oid = 'file_deletions'::regclass and acl.grantee not in (relowner, 0)
  loop
    execute format('grant select, insert, update, delete on file_removals to %I', role);
  end loop;
end $$;
