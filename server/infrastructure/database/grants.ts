import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';

/**
 * Privileges of the service role. It owns nothing: it cannot change the schema, disable a trigger or truncate, and can
 * only insert and read audit records. Granted after every migration, which covers new tables.
 */
const READ_AND_APPEND: readonly string[] = ['audit_records'];
const READ: readonly string[] = ['schema_migrations'];
const FUNCTIONS = ['create_partition(text, text, text, text, text[])', 'drop_partition(text, text, integer)'];

function privilegesOn(table: string): string {
  if (READ.includes(table)) return 'select';
  return READ_AND_APPEND.includes(table) ? 'select, insert' : 'select, insert, update, delete';
}

/** The role of a connection, from its URL or from the environment. */
export async function readRole({ queries }: Database): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(queries);
  return rows[0]?.role ?? '';
}

/** Whether the role has more privileges than the service needs, and why. */
export async function excessPrivilege({ queries }: Database): Promise<'superuser' | 'owner' | undefined> {
  // A member of the owner's role has all its privileges.
  const { rows } = await sql<{ superuser: boolean; owner: boolean }>`
    select rolsuper as superuser, exists (
      select from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and pg_has_role(current_user, relowner, 'usage')
    ) as owner
    from pg_roles where rolname = current_user`.execute(queries);
  if (rows[0]?.superuser) return 'superuser';
  return rows[0]?.owner ? 'owner' : undefined;
}

/** Whether two connections reach the same database, also through a pooler. */
export async function isSameDatabase(one: Database, other: Database): Promise<boolean> {
  const [first, second] = await Promise.all([identityOf(one), identityOf(other)]);
  return first === second;
}

async function identityOf({ queries }: Database): Promise<string | undefined> {
  const { rows } = await sql<{ identity: string }>`
    select concat_ws(' ', oid, datname, extract(epoch from pg_postmaster_start_time())) as identity
    from pg_database where datname = current_database()`.execute(queries);
  return rows[0]?.identity;
}

/** Run by the owner of the schema. With one role for both there is nothing to grant. */
export async function grantToService(owner: Database, serviceRole: string): Promise<void> {
  if ((await readRole(owner)) === serviceRole) return;
  await owner.transaction(async (transaction) => {
    // Concurrent grants would conflict on the same catalogue rows.
    await sql`select pg_advisory_xact_lock(hashtextextended('portico grants', 0))`.execute(transaction);
    const role = sql.id(serviceRole);
    const run = (text: string) => sql`${sql.raw(text)} ${role}`.execute(transaction);
    const { rows: schemas } = await sql<{ name: string }>`
      select quote_ident(current_schema()) as name`.execute(transaction);
    const schema = schemas[0]?.name;
    await run(`revoke all on schema ${schema} from`);
    await run(`grant usage on schema ${schema} to`);
    for (const { name, isPartition } of await readTables(transaction, serviceRole)) {
      await sql`revoke all on ${sql.table(name)} from ${role}`.execute(transaction);
      if (!isPartition)
        await sql`grant ${sql.raw(privilegesOn(name))} on ${sql.table(name)} to ${role}`.execute(transaction);
    }
    await run(`grant usage, select on all sequences in schema ${schema} to`);
    for (const signature of FUNCTIONS) await run(`grant execute on function ${signature} to`);
  });
}

/**
 * A partition is accessed through its parent, whose privileges apply, so only one with a manual grant is listed. A
 * statement on every partition would fail, or deadlock, while a running node creates or drops one.
 */
async function readTables(
  queries: Queries,
  serviceRole: string,
): Promise<{ name: string; isPartition: boolean }[]> {
  const { rows } = await sql<{ name: string; isPartition: boolean }>`
    select relname as name, relispartition as "isPartition" from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
      and relowner = current_user::regrole
      and (not relispartition
        or exists (select from aclexplode(relacl) join pg_roles on oid = grantee where rolname = ${serviceRole}))
    order by relname`.execute(queries);
  return rows;
}
