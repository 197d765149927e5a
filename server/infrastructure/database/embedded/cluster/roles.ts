import pg from 'pg';

/**
 * The superuser of initdb only sets up the cluster. Migrations run as the owner of the tables, the service as a role
 * that owns nothing (`infrastructure/database/grants.ts`).
 */
export const OWNER = 'portico_owner';
export const SERVICE = 'portico_service';

/** Every attribute is listed, which resets a role that was changed by hand. */
const ATTRIBUTES = 'login nosuperuser nocreatedb nocreaterole noreplication nobypassrls';
const DUPLICATE_OBJECT = '42710';

export type RolePasswords = { owner: string; service: string };

/** Runs as superuser at every start. */
export async function ensureRoles(superuser: pg.Client, passwords: RolePasswords): Promise<void> {
  for (const [role, password] of [
    [OWNER, passwords.owner],
    [SERVICE, passwords.service],
  ] as const) {
    await superuser.query(`create role ${role}`).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== DUPLICATE_OBJECT) throw error;
    });
    await superuser.query(`alter role ${role} ${ATTRIBUTES} password ${pg.escapeLiteral(password)}`);
  }
}

/**
 * Runs as superuser in the service's database: transfers objects that an earlier version created as superuser.
 * `reassign owned` does not work for the bootstrap superuser.
 */
export async function handOverToOwner(superuser: pg.Client): Promise<void> {
  await superuser.query(`do $$
    declare
      statement text;
    begin
      for statement in
        select format('alter table %s owner to ${OWNER}', oid::regclass)
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
          and relowner <> '${OWNER}'::regrole
        union all
        select format('alter sequence %s owner to ${OWNER}', oid::regclass)
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'S' and relowner <> '${OWNER}'::regrole
          and not exists (select from pg_depend where objid = pg_class.oid and deptype in ('a', 'i'))
        union all
        select format('alter routine %s owner to ${OWNER}', oid::regprocedure)
        from pg_proc
        where pronamespace = 'public'::regnamespace and proowner <> '${OWNER}'::regrole
      loop
        execute statement;
      end loop;
    end $$`);
}
