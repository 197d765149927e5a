import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database, Queries } from './database.ts';

/**
 * Numbered SQL files, applied in order under an advisory lock: several processes may start at once,
 * one of them migrates, the others find nothing left to do.
 */
const MIGRATIONS_DIR = fileURLToPath(new URL('./migrations/', import.meta.url));
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const MIGRATION_TABLE = 'schema_migrations';

export type SchemaState = 'current' | 'behind' | 'ahead';

/** Applies what is missing and returns the names of what it applied. */
export async function migrate(database: Database): Promise<string[]> {
  const { error, results } = await database.maintain((queries) => createMigrator(queries).migrateToLatest());
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

/** Whether this code and this database belong together; `ahead` means that a newer version migrated it. */
export async function schemaState(queries: Queries): Promise<SchemaState> {
  const files = await migrationNames();
  const applied = await appliedNames(queries);
  if (files.some((name) => !applied.has(name))) return 'behind';
  return applied.size > files.length ? 'ahead' : 'current';
}

function createMigrator(queries: Queries): Migrator {
  return new Migrator({
    db: queries,
    provider: { getMigrations: readMigrations },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
  });
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const name of await migrationNames()) {
    const text = await readFile(`${MIGRATIONS_DIR}${name}.sql`, 'utf8');
    migrations[name] = { up: async (db) => void (await sql.raw(text).execute(db)) };
  }
  return migrations;
}

async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIR);
  const misnamed = files.find((file) => !MIGRATION_NAME.test(file));
  if (misnamed !== undefined) throw new Error(`${misnamed} is not named like a migration`);
  return files.map((file) => file.replace(/\.sql$/, '')).sort();
}

/** Without the right to read them, the grants are missing, and migrating brings those too. */
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
