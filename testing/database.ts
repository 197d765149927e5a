import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { createDatabase, type Queries } from '../server/database/database.ts';
import { migrate } from '../server/database/migrate.ts';
import { createPartitions } from '../server/database/partitions.ts';
import { createLog } from '../server/runtime/log.ts';
import { Secret } from '../server/runtime/secret.ts';
import { createFakeClock } from './fake-clock.ts';

/**
 * One PostgreSQL for a whole run (`scripts/test.ts` starts it), a migrated template in it,
 * and a clone of the template for each test file: real, isolated, and made in milliseconds.
 */
const TEMPLATE = 'portico_template';
const SERVER_URL_VARIABLE = 'TEST_DATABASE_URL';

export async function prepareTemplate(serverUrl: string): Promise<void> {
  await administer(serverUrl, `create database ${TEMPLATE}`);
  const log = createLog({ level: 'silent', terminal: false });
  const database = createDatabase({ url: new Secret(urlOf(serverUrl, TEMPLATE)), connections: 2, log });
  await migrate(database);
  await createPartitions({
    database,
    clock: createFakeClock(),
    log,
    retentionDays: 30,
    auditRetentionDays: 400,
  }).prepare();
  await database.close();
  process.env[SERVER_URL_VARIABLE] = serverUrl;
}

export type TestDatabase = { url: Secret; drop(): Promise<void> };

export async function createTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const serverUrl = process.env[SERVER_URL_VARIABLE];
  if (!serverUrl) throw new Error('this test needs the database of a run: npm test -- <file>');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(serverUrl, `create database ${name} template ${migrated ? TEMPLATE : 'template0'}`);
  return {
    url: new Secret(urlOf(serverUrl, name)),
    drop: () => administer(serverUrl, `drop database ${name} with (force)`),
  };
}

/** As a version did whose last migration this was. */
export async function migrateTo(queries: Queries, last: string): Promise<void> {
  const directory = new URL('../server/database/migrations/', import.meta.url);
  const names = readdirSync(directory).map((file) => file.replace(/\.sql$/, ''));
  const migrations = names
    .filter((name) => name <= last)
    .map((name) => [name, readFileSync(new URL(`${name}.sql`, directory), 'utf8')] as const)
    .map(
      ([name, text]) =>
        [name, { up: async (db: Queries) => void (await sql.raw(text).execute(db)) }] as const,
    );
  const { error } = await new Migrator({
    db: queries,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  }).migrateToLatest();
  if (error) throw error;
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
