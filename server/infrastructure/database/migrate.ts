import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Database, Queries } from './database.ts';

/** Numbered SQL files, applied in order under an advisory lock, so that several processes may start at once. */
const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations/', import.meta.url));
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const MIGRATION_TABLE = 'schema_migrations';

type Prepare = (db: Queries) => Promise<unknown>;

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
  return database.maintain(async (queries) => {
    const prepare = (db: Queries) =>
      sql`
      select set_config('lock_timeout', ${String(lock.timeoutMs)}, true),
        set_config('portico.migration_time', ${clock.now().toISOString()}, true)`.execute(db);
    const migrator = createMigrator(queries, await readMigrations(prepare));
    const applied: string[] = [];
    for (;;) {
      const name = await applyNext(migrator, lock);
      if (name === undefined) return applied;
      applied.push(name);
    }
  });
}

/** Returns the name of the migration; undefined when none is left. */
async function applyNext(migrator: Migrator, lock: typeof LOCK): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { error, results } = await migrator.migrateUp();
    const name = results?.[0]?.migrationName;
    if (error === undefined) return name;
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

function createMigrator(queries: Queries, migrations: Record<string, Migration>): Migrator {
  return new Migrator({
    db: queries,
    provider: { getMigrations: async () => migrations },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
  });
}

async function readMigrations(prepare: Prepare): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const name of await migrationNames()) {
    const text = await readFile(`${MIGRATIONS_DIR}${name}.sql`, 'utf8');
    migrations[name] = {
      async up(db) {
        await prepare(db);
        await sql.raw(text).execute(db);
      },
    };
  }
  return migrations;
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
    select coalesce(has_table_privilege(to_regclass(${MIGRATION_TABLE}), 'select'), false) as exists`.execute(
    queries,
  );
  if (!found[0]?.exists) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)}`.execute(
    queries,
  );
  return new Set(rows.map((row) => row.name));
}
