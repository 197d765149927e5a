import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { createSilentProxy } from '../../../../testing/database/silent-proxy.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import { createLog } from '../../runtime/log.ts';
import { createDatabase, type Database, type Ending, type Queries } from '../database.ts';
import { failureOfDatabase } from '../failures.ts';
import { createNotifications } from './notifications.ts';

const CHECK_MS = 5_000;
const RECOVERED_WITHIN_MS = 45_000;

const log = createLog({ level: 'silent', terminal: false });
const testDatabase = await createTestDatabase();
const direct = createDatabase({ url: testDatabase.url, connections: 2, log });
after(async () => {
  await direct.close();
  await testDatabase.drop();
});

async function createProxied(connections = 3) {
  const proxy = await createSilentProxy(testDatabase.url);
  const clock = createFakeClock();
  const database = createDatabase({ url: proxy.url, connections, log, timers: clock });
  after(async () => {
    const closed = database.close();
    clock.advance(CHECK_MS);
    await closed;
    await proxy.close();
  });
  return { proxy, clock, database };
}

const pidOf = async (queries: Queries) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(queries)).rows[0]?.pid;

/** Advances the clock by checks until the promise has settled; returns the elapsed time and the error. */
async function rejectionOf(clock: ReturnType<typeof createFakeClock>, promise: Promise<unknown>) {
  let error: unknown;
  promise.catch((reason: unknown) => {
    error = reason;
  });
  let passedMs = 0;
  for (; error === undefined && passedMs < 2 * RECOVERED_WITHIN_MS; passedMs += CHECK_MS) {
    clock.advance(CHECK_MS);
    await pidOf(direct.queries);
  }
  return { error, passedMs };
}

test('a statement on a silent connection fails in time, and the next one gets a new connection', async () => {
  const { proxy, clock, database } = await createProxied(1);
  const before = await pidOf(database.queries);
  proxy.silenceOpen();
  const { error, passedMs } = await rejectionOf(clock, pidOf(database.queries));
  assert.equal(failureOfDatabase(error)?.code, 'database_unavailable', String(error));
  assert.ok(passedMs <= RECOVERED_WITHIN_MS, `${passedMs} ms`);
  assert.notEqual(await pidOf(database.queries), before);
  assert.equal(proxy.accepted(), 2);
});

test('a silent idle connection is replaced before a statement uses it', async () => {
  const { proxy, clock, database } = await createProxied();
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.01)`.execute(database.queries)));
  assert.equal(proxy.accepted(), 3);
  proxy.silenceOpen();
  for (let checks = 0; checks < 4; checks += 1) {
    clock.advance(CHECK_MS);
    await pidOf(direct.queries);
  }
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.01)`.execute(database.queries)));
  assert.equal(proxy.accepted(), 6);
});

test('healthy connections are kept, idle, in a transaction and during a long statement', async () => {
  const { proxy, clock, database } = await createProxied(2);
  const pid = await pidOf(database.queries);
  for (let checks = 0; checks < 20; checks += 1) {
    clock.advance(CHECK_MS);
    assert.equal(await pidOf(database.queries), pid);
  }
  const locked = Promise.withResolvers<void>();
  const holder = direct.transaction(async (transaction) => {
    await sql`select pg_advisory_xact_lock(12)`.execute(transaction);
    await locked.promise;
  });
  const waiting = database.transaction(async (transaction) => {
    const own = await pidOf(transaction);
    for (let checks = 0; checks < 10; checks += 1) clock.advance(CHECK_MS);
    const slow = sql`select pg_advisory_xact_lock(12)`.execute(transaction);
    clock.advance(3 * CHECK_MS);
    locked.resolve();
    await slow;
    return (await pidOf(transaction)) === own;
  });
  assert.equal(await waiting, true);
  await holder;
  assert.equal(proxy.accepted(), 1);
});

async function endingOf(database: Database, silence: () => void) {
  const endings: Ending[] = [];
  const begun = Promise.withResolvers<void>();
  const done = database.transaction(async (transaction) => {
    database.onEnd(transaction, (ending) => void endings.push(ending));
    await pidOf(transaction);
    silence();
    begun.resolve();
  });
  await begun.promise;
  return { endings, done };
}

test('a commit on a silent connection ends as unknown, and the connection is not reused', async () => {
  const { proxy, clock, database } = await createProxied(1);
  const { endings, done } = await endingOf(database, proxy.silenceOpen);
  const { error } = await rejectionOf(clock, done);
  assert.equal(failureOfDatabase(error)?.code, 'database_unavailable', String(error));
  assert.deepEqual(endings, ['unknown']);
  const { rows } = await sql<{ open: boolean }>`select pg_current_xact_id_if_assigned() is not null
    as open`.execute(database.queries);
  assert.deepEqual(rows, [{ open: false }]);
  assert.equal(proxy.accepted(), 2);
});

test('closing does not wait for silent connections, idle or in use', async () => {
  const proxy = await createSilentProxy(testDatabase.url);
  const clock = createFakeClock();
  const database = createDatabase({ url: proxy.url, connections: 3, log, timers: clock });
  await Promise.all([1, 2].map(() => sql`select pg_sleep(0.01)`.execute(database.queries)));
  proxy.silenceOpen();
  const used = assert.rejects(
    pidOf(database.queries),
    (error) => failureOfDatabase(error)?.code === 'database_unavailable',
  );
  await new Promise((resolve) => setImmediate(resolve));
  const closed = database.close();
  clock.advance(CHECK_MS);
  await closed;
  await used;
  await proxy.close();
});

test('a silent listening connection is replaced, and its handlers are called', async () => {
  const proxy = await createSilentProxy(testDatabase.url);
  const clock = createFakeClock();
  const { queries } = direct;
  const notifications = createNotifications({ url: proxy.url, queries, log, timers: clock });
  const heard: (string | undefined)[] = [];
  await notifications.listen('one', (payload) => heard.push(payload));
  heard.length = 0;
  proxy.silenceOpen();
  await notifications.notify('one', ['lost']);
  // No longer than until it connects again: the new connection would be silent in its first round trips.
  const before = proxy.accepted();
  for (
    let passedMs = 0;
    proxy.accepted() === before && passedMs < RECOVERED_WITHIN_MS;
    passedMs += CHECK_MS
  ) {
    clock.advance(CHECK_MS);
    await pidOf(queries);
  }
  await until(() => heard.length > 0, 'the new connection');
  await notifications.notify('one', ['heard']);
  await until(() => heard.length > 1, 'the message');
  assert.deepEqual(heard, [undefined, 'heard']);

  proxy.silenceOpen();
  const closed = notifications.close();
  clock.advance(CHECK_MS);
  await closed;
  await proxy.close();
});
