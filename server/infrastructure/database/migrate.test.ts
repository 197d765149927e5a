import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTestDatabase, migrateTo } from '../../../testing/database/database.ts';
import { firstGuidAt } from '../runtime/guid.ts';
import { createLog } from '../runtime/log.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate, schemaState } from './migrate.ts';
import { buildMissingIndexes } from './partitions/partition-indexes.ts';
import { TABLE_INDEXES } from './partitions/table-indexes.ts';

const log = createLog({ level: 'silent', terminal: false });

/** A database, empty unless it is migrated, and several processes with their own connections. */
async function openDatabase({ processes = 1, migrated = false } = {}): Promise<[Database, ...Database[]]> {
  const testDatabase = await createTestDatabase({ migrated });
  const databases = Array.from({ length: processes }, () =>
    createDatabase({ url: testDatabase.ownerUrl, connections: 2, log }),
  );
  after(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await testDatabase.drop();
  });
  return databases as [Database, ...Database[]];
}

test('concurrent processes all succeed, and each migration is applied once', async () => {
  const all = await openDatabase({ processes: 6 });
  assert.equal(await schemaState(all[0].queries), 'behind');
  const applied = await Promise.all(all.map((database) => migrate(database)));
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

test('a migrated database is left unchanged', async () => {
  const [database] = await openDatabase({ migrated: true });
  assert.deepEqual(await migrate(database), []);
  assert.equal(await schemaState(database.queries), 'current');
});

test('a newer schema is ahead, and an older version changes nothing in it', async () => {
  const [database] = await openDatabase({ migrated: true });
  const { queries } = database;
  await sql`insert into schema_migrations (name, timestamp) values ('9999_newer', '')`.execute(queries);
  assert.equal(await schemaState(queries), 'ahead');
  await assert.rejects(migrate(database), /9999_newer/);
  assert.equal(await schemaState(queries), 'ahead');

  await sql`delete from schema_migrations
    where name = (select max(name) from schema_migrations where name < '9999')`.execute(queries);
  assert.equal(
    await schemaState(queries),
    'behind',
    'an additional migration does not replace a missing one',
  );
});

test('a migration that was left out is not applied after later ones', async () => {
  const [database] = await openDatabase({ migrated: true });
  await sql`delete from schema_migrations where name = '0016_consignments'`.execute(database.queries);
  await assert.rejects(migrate(database), /0016_consignments was not applied before 0017_/);
});

test('a migration that cannot lock its tables fails and keeps earlier ones', async () => {
  const [database, other] = (await openDatabase({ processes: 2 })) as [Database, Database];
  await database.maintain((queries) => migrateTo(queries, '0016_consignments'));
  const lock = { timeoutMs: 10, attempts: 2, pauseMs: 0 };
  // Reads of audit records block 0018, which renames the table.
  await other.transaction(async (reader) => {
    await sql`select from audit_records`.execute(reader);
    await assert.rejects(
      migrate(database, { lock }),
      /migration 0018_audit_partitions could not lock its tables in 2/,
    );
    // 0017 was a transaction of its own, so its lock is released.
    await sql`insert into objects select * from objects where false`.execute(other.queries);
  });
  const applied = await migrate(database, { lock });
  assert.equal(applied[0], '0018_audit_partitions');
  assert.equal(await schemaState(database.queries), 'current');
});

test('a node of the previous version keeps recording after the migration', async () => {
  const [database] = await openDatabase();
  await database.maintain((queries) => migrateTo(queries, '0016_consignments'));
  const record = (at: string) => sql`
    insert into audit_records (guid, actor_type, actor, action, object_type, object_id, changes, created_at)
    values (${firstGuidAt(new Date(at))}, 'system', 'portico', 'x', 'x', 'x', '{}', ${at})`;
  await record('2026-11-15T12:00:00Z').execute(database.queries);
  await migrate(database, { clock: createFakeClock(new Date('2027-02-28T12:00:00Z')) });
  for (const at of ['2026-11-16T00:00:00Z', '2027-02-21T00:00:00Z', '2027-03-28T00:00:00Z'])
    await record(at).execute(database.queries);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'audit_records'::regclass order by relname`.execute(database.queries);
  const names = rows.map(({ name }) => name);
  assert.equal(names.at(-1), 'audit_records_before');
  for (const name of names)
    await assert.rejects(sql`truncate ${sql.table(name)}`.execute(database.queries), /append-only/, name);
});

test('table indexes are built after the migrations, and an interrupted build is repeated', async () => {
  const [database] = await openDatabase();
  const names = TABLE_INDEXES.map(({ name }) => name).sort();
  await migrate(database);
  const built = await buildMissingIndexes({ database, log });
  assert.deepEqual(built.filter((name) => names.includes(name)).sort(), names);
  assert.deepEqual(await buildMissingIndexes({ database, log }), []);

  await invalidate(database, 'objects_by_bank_state');
  assert.deepEqual(await buildMissingIndexes({ database, log }), ['objects_by_bank_state']);
  assert.deepEqual(await buildMissingIndexes({ database, log }), []);
});

/** A concurrent build that times out on a lock leaves an invalid index. */
async function invalidate(database: Database, name: string): Promise<void> {
  const index = TABLE_INDEXES.find((each) => each.name === name);
  assert.ok(index);
  await sql`drop index ${sql.table(name)}`.execute(database.queries);
  await database.transaction(async (writer) => {
    await sql`lock table ${sql.table(index.table)} in row exclusive mode`.execute(writer);
    await database.maintain((queries) =>
      queries.connection().execute(async (connection) => {
        await sql`set lock_timeout = '10ms'`.execute(connection);
        await assert.rejects(
          sql`create index concurrently ${sql.id(name)} on ${sql.table(index.table)}
            ${sql.raw(index.definition)}`.execute(connection),
          { code: '55P03' },
        );
      }),
    );
  });
}

/** The lock around migrations. */
const MIGRATION_LOCK = '3853314791062309107';

test('the limits of the role do not apply to migrations', async () => {
  const [database] = (await openDatabase({ migrated: true })) as [Database];
  const limits = ['statement_timeout', 'idle_in_transaction_session_timeout'];
  for (const limit of limits)
    await sql`
      do $$ begin
        execute format('alter database %I set ${sql.raw(limit)} = %L', current_database(), '15s');
      end $$`.execute(database.queries);
  const shown = await database.maintain((queries) =>
    sql`
      select name, setting from pg_settings where name = any(${limits}) order by name desc`.execute(queries),
  );
  assert.deepEqual(
    shown.rows,
    limits.map((name) => ({ name, setting: '0' })),
  );
});

test('a process waits for a running migration without a limit', async () => {
  const [first, second] = (await openDatabase({ processes: 2, migrated: true })) as [Database, Database];
  await sql`
    do $$ begin
      execute format('alter database %I set lock_timeout = %L', current_database(), '10ms');
    end $$`.execute(first.queries);
  const waiting = await first.queries.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK}::bigint)`.execute(holder);
    const migrating = migrate(second);
    const overdue = () =>
      sql<{ pid: number }>`select pid from pg_locks where locktype = 'advisory' and not granted
        and clock_timestamp() - waitstart > '50ms'
        and database = (select oid from pg_database where datname = current_database())`.execute(holder);
    const failed = migrating.then(() => assert.fail('it did not wait'));
    while ((await Promise.race([overdue(), failed])).rows.length === 0);
    failed.catch(() => undefined);
    await sql`select pg_advisory_unlock(${MIGRATION_LOCK}::bigint)`.execute(holder);
    return { migrating };
  });
  assert.deepEqual(await waiting.migrating, []);
  const limit = await second.maintain((queries) => sql`show statement_timeout`.execute(queries));
  assert.deepEqual(limit.rows, [{ statement_timeout: '0' }]);
});
