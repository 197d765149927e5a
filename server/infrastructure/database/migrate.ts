import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Database, Queries } from './database.ts';

/** Numbered SQL files, applied in order under an advisory lock, so that several processes may start at once. */
const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations/', import.meta.url));
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const MIGRATION_TABLE = sql.table('schema_migrations');
/** The key of the versions before 0082, whose processes wait too. */
const MIGRATION_LOCK = '3853314791062309107';

export type SchemaState = 'current' | 'behind' | 'ahead';

/** A statement that waits for a lock blocks all later ones, so it times out and is retried. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 15;
const PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

type Options = {
  clock?: Clock;
  lock?: { timeoutMs: number; attempts: number; pauseMs: number };
};
const LOCK = { timeoutMs: LOCK_TIMEOUT_MS, attempts: LOCK_ATTEMPTS, pauseMs: PAUSE_MS };

/**
 * Applies the missing migrations and returns their names. Each one is a transaction of its own, so that no lock is held
 * while later ones run.
 */
export async function migrate(
  database: Database,
  { clock = systemClock, lock = LOCK }: Options = {},
): Promise<string[]> {
  const files = await migrationNames();
  return database.maintain((queries) =>
    queries.connection().execute(async (holder) => {
      // The role may have a limit of its own.
      await sql`set lock_timeout = 0`.execute(holder);
      await sql`select pg_advisory_lock(${MIGRATION_LOCK}::bigint)`.execute(holder);
      await sql`create table if not exists ${MIGRATION_TABLE} (
        name varchar(255) primary key, timestamp varchar(255) not null)`.execute(holder);
      const missing = missingOf(files, await appliedNames(holder));
      for (const name of missing) await apply(holder, name, clock, lock);
      // Closing the connection releases the lock too, but only after this returns.
      await sql`select pg_advisory_unlock(${MIGRATION_LOCK}::bigint)`.execute(holder);
      return missing;
    }),
  );
}

/** Throws when the database was migrated by a version with other migrations. */
function missingOf(files: readonly string[], applied: ReadonlySet<string>): string[] {
  const unknown = [...applied].find((name) => !files.includes(name));
  if (unknown !== undefined)
    throw new Error(`migration ${unknown} of the database is unknown; start the version that applied it`);
  const missing = files.filter((name) => !applied.has(name));
  const [first] = missing;
  const later = first && files.find((name) => name > first && applied.has(name));
  if (later) throw new Error(`migration ${first} was not applied before ${later}; restore a backup`);
  return missing;
}

async function apply(queries: Queries, name: string, clock: Clock, lock: typeof LOCK): Promise<void> {
  const text = await readFile(`${MIGRATIONS_DIR}${name}.sql`, 'utf8');
  const now = clock.now().toISOString();
  for (let attempt = 1; ; attempt++)
    try {
      return await queries.transaction().execute(async (transaction) => {
        await sql`
          select set_config('lock_timeout', ${String(lock.timeoutMs)}, true),
            set_config('portico.migration_time', ${now}, true)`.execute(transaction);
        await sql.raw(text).execute(transaction);
        await sql`insert into ${MIGRATION_TABLE} values (${name}, ${now})`.execute(transaction);
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt >= lock.attempts)
        throw new Error(
          `migration ${name} could not lock its tables in ${attempt} attempts of ${lock.timeoutMs} ms; end long transactions and run it again`,
          { cause: error },
        );
      await setTimeout(lock.pauseMs);
    }
}

/** Compares the code with the database; `ahead` means that a newer version migrated it. */
export async function schemaState(queries: Queries): Promise<SchemaState> {
  const files = await migrationNames();
  const applied = await appliedNames(queries);
  if (files.some((name) => !applied.has(name))) return 'behind';
  return applied.size > files.length ? 'ahead' : 'current';
}

async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIR);
  const misnamed = files.find((file) => !MIGRATION_NAME.test(file));
  if (misnamed !== undefined) throw new Error(`${misnamed} is not a valid migration name`);
  return files.map((file) => file.replace(/\.sql$/, '')).sort();
}

/** When the role may not read the table, the grants are missing, which migrating adds. */
async function appliedNames(queries: Queries): Promise<Set<string>> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select coalesce(has_table_privilege(to_regclass('schema_migrations'), 'select'), false) as exists`.execute(
    queries,
  );
  if (!found[0]?.exists) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${MIGRATION_TABLE}`.execute(queries);
  return new Set(rows.map((row) => row.name));
}
