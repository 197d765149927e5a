import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { after } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import {
  createDatabase,
  type Database,
  type Queries,
} from '../../server/infrastructure/database/database.ts';
import { OWNER, SERVICE } from '../../server/infrastructure/database/embedded/cluster/roles.ts';
import type { EmbeddedPostgres } from '../../server/infrastructure/database/embedded/embedded-postgres.ts';
import { superuserUrlOf } from '../../server/infrastructure/database/embedded/testing/superuser-url.ts';
import { grantToService } from '../../server/infrastructure/database/grants.ts';
import { migrate } from '../../server/infrastructure/database/migrate.ts';
import { buildMissingIndexes } from '../../server/infrastructure/database/partitions/partition-indexes.ts';
import { createPartitions } from '../../server/infrastructure/database/partitions/partitions.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { createFakeClock } from '../app/fake-clock.ts';
import { PATIENCE_MS } from '../app/patience.ts';

/**
 * One PostgreSQL for a whole run (`scripts/test.ts` starts it), a migrated template in it, and a clone of the template
 * for each test file, created in milliseconds.
 */
const TEMPLATE = 'portico_template';
/** The app connects as the service role; the owner is for tests that change the schema. */
const SERVER_URL_VARIABLES = {
  superuser: 'TEST_DATABASE_URL',
  owner: 'TEST_DATABASE_OWNER_URL',
  service: 'TEST_DATABASE_SERVICE_URL',
};
const silent = createLog({ level: 'silent', terminal: false });

/** Returns the variables by which this process and its children find the server. */
export async function prepareTemplate(
  dataDir: string,
  postgres: EmbeddedPostgres,
): Promise<Record<string, string>> {
  const variables = {
    [SERVER_URL_VARIABLES.superuser]: await superuserUrlOf(dataDir, postgres),
    [SERVER_URL_VARIABLES.owner]: postgres.ownerUrl,
    [SERVER_URL_VARIABLES.service]: postgres.url,
  };
  Object.assign(process.env, variables);
  await administer(`create database ${TEMPLATE} owner ${OWNER}`);
  const connect = (role: keyof typeof SERVER_URL_VARIABLES) =>
    createDatabase({ url: urlOf(role, TEMPLATE), connections: 2, log: silent });
  const [owner, service] = [connect('owner'), connect('service')];
  const clock = createFakeClock();
  await migrate(owner, { clock });
  await buildMissingIndexes({ database: owner, log: silent });
  await grantToService(owner, SERVICE);
  await createPartitions({
    ...{ database: service, clock, log: silent },
    ...{ retentionDays: 30, auditRetentionDays: 400 },
  }).prepare();
  await Promise.all([owner.close(), service.close()]);
  return variables;
}

export type TestDatabase = {
  /** As the service role; as the owner if the database is not migrated, because the service role has no grants then. */
  url: Secret;
  ownerUrl: Secret;
  serviceUrl: Secret;
  superuserUrl: Secret;
  drop(): Promise<void>;
};

/** `copyOf` is a migrated database without connections. */
export async function createTestDatabase({
  migrated = true,
  copyOf,
}: {
  migrated?: boolean;
  copyOf?: TestDatabase;
} = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const migratedTemplate = copyOf ? new URL(copyOf.url.reveal()).pathname.slice(1) : TEMPLATE;
  const template = migrated ? migratedTemplate : 'template0';
  await administer(`create database ${name} template ${template} owner ${OWNER} strategy file_copy`);
  return {
    url: urlOf(migrated ? 'service' : 'owner', name),
    ownerUrl: urlOf('owner', name),
    serviceUrl: urlOf('service', name),
    superuserUrl: urlOf('superuser', name),
    drop: () => administer(`drop database ${name} with (force)`),
  };
}

/** A database of a test file without an app, dropped after its tests. */
export async function openTestDatabase({
  migrated = true,
  connections = 2,
}: {
  migrated?: boolean;
  connections?: number;
} = {}) {
  const testDatabase = await createTestDatabase({ migrated });
  const database = createDatabase({ url: testDatabase.url, connections, log: silent });
  after(async () => {
    await database.close();
    await testDatabase.drop();
  });
  return { testDatabase, database, log: silent };
}

/** `end()` does not wait for the connections to close, so the database may be dropped while one is open. */
export function createTestPool(url: Secret, { max }: { max: number }): pg.Pool {
  return new pg.Pool({ connectionString: url.reveal(), max }).on('error', () => undefined);
}

/** For statements that the service role may not run: analyze, truncate, create trigger. */
export function queriesOfOwner({ ownerUrl }: TestDatabase): Queries {
  const { queries, close } = createDatabase({ url: ownerUrl, connections: 1, log: silent });
  after(close);
  return queries;
}

/** Inserts many rows, without the statement timeout of requests, which a slow machine exceeds. */
export function fill(database: Database, insert: RawBuilder<unknown>): Promise<unknown> {
  return database.maintain((queries) => insert.execute(queries));
}

/** Migrates up to this migration, like an older version. */
export async function migrateTo(queries: Queries, last: string): Promise<void> {
  const directory = new URL('../../server/infrastructure/database/migrations/', import.meta.url);
  const names = readdirSync(directory).map((file) => file.replace(/\.sql$/, ''));
  await sql`
    create table if not exists schema_migrations (
      name varchar(255) primary key, timestamp varchar(255) not null)`.execute(queries);
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(queries);
  const applied = new Set(rows.map(({ name }) => name));
  for (const name of names.filter((each) => each <= last && !applied.has(each)).sort()) {
    await sql.raw(readFileSync(new URL(`${name}.sql`, directory), 'utf8')).execute(queries);
    await sql`insert into schema_migrations values (${name}, '')`.execute(queries);
  }
}

/** One connection per process, which does not keep the process running; another one for another server. */
let administrator: { url: string; pool: pg.Pool } | undefined;
/** The SQLSTATE after PostgreSQL waited five seconds for the connections of a database to end. */
const OBJECT_IN_USE = '55006';

async function administer(statement: string): Promise<void> {
  const connectionString = serverUrl('superuser');
  if (administrator?.url !== connectionString) {
    const pool = new pg.Pool({ connectionString, max: 1, allowExitOnIdle: true });
    administrator = { url: connectionString, pool: pool.on('error', () => undefined) };
  }
  for (const giveUpAt = performance.now() + PATIENCE_MS; ; )
    try {
      await administrator.pool.query(statement);
      return;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== OBJECT_IN_USE || performance.now() > giveUpAt) throw error;
    }
}

function urlOf(role: keyof typeof SERVER_URL_VARIABLES, database: string): Secret {
  const url = new URL(serverUrl(role));
  url.pathname = `/${database}`;
  return new Secret(url.href);
}

function serverUrl(role: keyof typeof SERVER_URL_VARIABLES): string {
  const url = process.env[SERVER_URL_VARIABLES[role]];
  if (!url) throw new Error('this test needs the database of a run: npm test -- <file>');
  return url;
}
