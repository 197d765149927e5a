-- Renames delivery_consignments to delivery_batches. The view keeps the old name for nodes of the previous version: it
-- is automatically updatable, so their inserts, deletes and row locks act on the same rows. A later migration drops it.
alter table delivery_consignments rename to delivery_batches;
alter index delivery_consignments_pkey rename to delivery_batches_pkey;
alter index delivery_consignments_by_subscription rename to delivery_batches_by_subscription;

create view delivery_consignments as
select guid, subscription_guid, leased_by, delivery_guids, created_at from delivery_batches;

-- Privileges move with the renamed table, not to the view: the service role needs them before the next `portico migrate`
-- step grants them.
do $$
declare
  role text;
begin
  for role in
    select distinct pg_get_userbyid(acl.grantee)
    from pg_class cross join lateral aclexplode(relacl) as acl
    where oid = 'delivery_batches'::regclass and acl.grantee not in (relowner, 0)
  loop
    execute format('grant select, insert, update, delete on delivery_consignments to %I', role);
  end loop;
end $$;
