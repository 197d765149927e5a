import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../testing/database.ts';
import { createLog } from '../runtime/log.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate, schemaState } from './migrate.ts';

const log = createLog({ level: 'silent', terminal: false });

/** An empty database and as many processes on it as asked for, each with its own connections. */
async function openUnmigrated(processes: number): Promise<[Database, ...Database[]]> {
  const testDatabase = await createTestDatabase({ migrated: false });
  const databases = Array.from({ length: processes }, () =>
    createDatabase({ url: testDatabase.url, connections: 2, log }),
  );
  after(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await testDatabase.drop();
  });
  return databases as [Database, ...Database[]];
}

test('processes that start at once all succeed, and each migration is applied once', async () => {
  const all = await openUnmigrated(6);
  const applied = await Promise.all(all.map(migrate));
  const names = applied.flat();
  assert.ok(names.length >= 4);
  assert.equal(new Set(names).size, names.length, 'none was applied twice');
  const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
    all[0].queries,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    names.sort(),
  );
  assert.deepEqual(
    await Promise.all(all.map(({ queries }) => schemaState(queries))),
    all.map(() => 'current'),
  );
});

test('a database that is migrated already is left as it is', async () => {
  const [database] = await openUnmigrated(1);
  await migrate(database);
  assert.deepEqual(await migrate(database), []);
});

test('a schema is behind before, current after, and ahead once a newer version migrated it', async () => {
  const [database] = await openUnmigrated(1);
  const { queries } = database;
  assert.equal(await schemaState(queries), 'behind');
  const applied = await migrate(database);
  assert.equal(await schemaState(queries), 'current');

  await sql`insert into schema_migrations (name, timestamp) values ('9999_newer', '')`.execute(queries);
  assert.equal(await schemaState(queries), 'ahead');
  await sql`delete from schema_migrations where name = ${applied.at(-1)}`.execute(queries);
  assert.equal(
    await schemaState(queries),
    'behind',
    'something newer does not make up for something missing',
  );
});

test('an older version finds a newer schema and changes nothing', async () => {
  const [database] = await openUnmigrated(1);
  const { queries } = database;
  await migrate(database);
  await sql`insert into schema_migrations (name, timestamp) values ('9999_newer', '')`.execute(queries);
  await assert.rejects(migrate(database), /9999_newer/);
  assert.equal(await schemaState(queries), 'ahead');
});

/** Kysely's own lock around migrations. */
const MIGRATION_LOCK = '3853314791062309107';

test('a process waits for another that migrates, without the time limit of requests', async () => {
  const [first, second] = (await openUnmigrated(2)) as [Database, Database];
  const waiting = await first.queries.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK}::bigint)`.execute(holder);
    const migrating = migrate(second);
    const waiters = () =>
      sql<{ pid: number }>`select pid from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(holder);
    while ((await waiters()).rows.length === 0);
    await sql`select pg_advisory_unlock(${MIGRATION_LOCK}::bigint)`.execute(holder);
    return { migrating };
  });
  assert.ok((await waiting.migrating).length > 0);
  const limit = await second.maintain((queries) => sql`show statement_timeout`.execute(queries));
  assert.deepEqual(limit.rows, [{ statement_timeout: '0' }]);
});
