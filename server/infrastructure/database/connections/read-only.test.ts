import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { createReadOnlySwitch } from '../../../../testing/database/read-only-database.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import { createLog } from '../../runtime/log.ts';
import { createDatabase, type Queries } from '../database.ts';
import { createNotifications } from './notifications.ts';
import { isReadOnly } from './read-only.ts';

const CHECK_MS = 5_000;
const RECONNECT_MS = 1_000;
/** The pool ends idle connections after 30 seconds of real time, too. */
const ENDED_WITHIN_MS = 20_000;

const log = createLog({ level: 'silent', terminal: false });
const otherDatabase = await createTestDatabase();
const other = createDatabase({ url: otherDatabase.url, connections: 1, log });
after(async () => {
  await other.close();
  await otherDatabase.drop();
});

/** A database whose open connections are read-only, while new ones are writable. */
async function openAfterFailover(connections: number) {
  const testDatabase = await createTestDatabase();
  const server = await createReadOnlySwitch(testDatabase);
  const clock = createFakeClock();
  const { url } = testDatabase;
  const database = createDatabase({ url, connections, log, timers: clock });
  after(async () => {
    await database.close();
    await testDatabase.drop();
  });
  await server.setReadOnly();
  const pids = await pidsOf(database.queries, connections);
  await server.setWritable();
  return { database, server, clock, url, pids };
}

/** Of all connections: each query keeps its own until the others have one, too. */
async function pidsOf(queries: Queries, connections: number): Promise<Set<number | undefined>> {
  const asked: Promise<unknown>[] = [];
  const pids = Array.from({ length: connections }, () =>
    queries.connection().execute(async (connection) => {
      const answer = sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
      asked.push(answer);
      while (asked.length < connections) await setImmediate();
      return (await answer).rows[0]?.pid;
    }),
  );
  return new Set(await Promise.all(pids));
}

async function assertEnded(pids: ReadonlySet<number | undefined>): Promise<void> {
  for (const giveUpAt = performance.now() + ENDED_WITHIN_MS; performance.now() < giveUpAt; ) {
    const { rows } = await sql`select from pg_stat_activity where pid = any(${[...pids]})`.execute(
      other.queries,
    );
    if (rows.length === 0) return;
  }
  assert.fail('the connections are kept');
}

const write = (queries: Queries) => sql`delete from organizations where false`.execute(queries);

test('a connection that refuses a write as read-only is replaced', async () => {
  const { database } = await openAfterFailover(1);
  await assert.rejects(write(database.queries), { code: '25006' });
  await write(database.queries);
});

test('a transaction that is refused as read-only fails with this error, and its connection is replaced', async () => {
  const { database } = await openAfterFailover(1);
  await assert.rejects(
    database.transaction(async (transaction) => {
      await sql`select 1`.execute(transaction);
      await write(transaction);
    }),
    { code: '25006' },
  );
  await database.transaction(write);
});

test('a list that is refused as read-only does not keep its connection either', async () => {
  const { database } = await openAfterFailover(1);
  await assert.rejects(write(database.lists), { code: '25006' });
  await write(database.queries);
});

test('idle read-only connections are replaced before a write uses them', async () => {
  const { database, clock, pids } = await openAfterFailover(3);
  assert.equal(pids.size, 3);
  clock.advance(CHECK_MS);
  await assertEnded(pids);
  await Promise.all([1, 2, 3].map(() => database.transaction(write)));
});

test('a read-only transaction on a writable server keeps its connection', async () => {
  const { database, clock } = await openAfterFailover(1);
  await assert.rejects(write(database.queries), { code: '25006' });
  const pids = await pidsOf(database.queries, 1);
  await database.transaction(async (transaction) => {
    await sql`set transaction read only`.execute(transaction);
    clock.advance(CHECK_MS);
    assert.ok(await isReadOnly(transaction));
  });
  clock.advance(CHECK_MS);
  assert.deepEqual(await pidsOf(database.queries, 1), pids);
});

test('a listening connection to a read-only server is replaced', async () => {
  const { database, server, clock, url } = await openAfterFailover(1);
  const { queries } = database;
  await server.setReadOnly();
  const notifications = createNotifications({ url, queries, log, timers: clock });
  after(notifications.close);
  const heard: unknown[] = [];
  await notifications.listen('one', (payload) => heard.push(payload));
  await server.setWritable();
  heard.length = 0;
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and application_name = 'portico listen'`.execute(queries);
  clock.advance(CHECK_MS);
  await assertEnded(new Set(rows.map(({ pid }) => pid)));
  clock.advance(RECONNECT_MS);
  await until(() => heard.length > 0, 'the new connection');
});
