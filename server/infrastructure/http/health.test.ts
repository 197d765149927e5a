import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createBareServer, untilTrue } from '../../../testing/app/http-server.ts';
import { createTestDatabase, createTestPool } from '../../../testing/database/database.ts';
import { createReadOnlySwitch } from '../../../testing/database/read-only-database.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { registerHealth } from './health.ts';

const CHECK_MS = 5_000;

test('a node is ready while its database is writable, and again after a read-only one', async () => {
  const testDatabase = await createTestDatabase();
  after(testDatabase.drop);
  const server = await createReadOnlySwitch(testDatabase);
  const databaseTimers = createFakeClock();
  await server.setReadOnly();
  const app = await createTestApp({ testDatabase, databaseTimers });
  const ready = () => app.call({ url: '/readyz' });
  const write = () => app.operate('POST', '/organizations', { name: 'Written' });

  const refused = await ready();
  assertError(refused, 503, 'database_unavailable');
  assert.match(String(refused.body.message), /read-only/);
  assertError(await write(), 503, 'database_unavailable');

  const observer = createTestPool(testDatabase.superuserUrl, { max: 1 });
  after(() => observer.end());
  const connections = async () => {
    const { rows } = await observer.query(`
      select pid from pg_stat_activity where datname = current_database() and application_name = 'portico'`);
    return rows.map(({ pid }) => Number(pid));
  };
  const readOnly = new Set(await connections());
  await server.setWritable();
  // The check of readiness has connections of its own: those for writes are replaced independently.
  await until(async () => {
    databaseTimers.advance(CHECK_MS);
    return (await ready()).status === 200 && readOnly.isDisjointFrom(new Set(await connections()));
  }, 'readiness');
  assert.equal((await write()).status, 201);
});

test('a node is ready while slow calls use every connection that is not reserved', async () => {
  const app = await createTestApp();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const slow = Array.from({ length: 5 }, () => app.database.transaction(() => over));
  const { body } = await app.call({ url: '/readyz' });
  end();
  // Two of them wait for a connection, for some seconds at most.
  await Promise.allSettled(slow);
  assert.deepEqual(body, { status: 'ok' });
});

test('a node is not ready when its database does not answer within two seconds', async () => {
  const { server } = createBareServer();
  const clock = createFakeClock();
  const never = () => new Promise<never>(() => {});
  registerHealth(server, { timers: clock, isReadOnly: never, schemaState: never });
  let isAnswered = false;
  const asked = server.inject('/readyz').then((answer) => {
    isAnswered = true;
    return answer;
  });
  await untilTrue(() => clock.waiting() === 1);
  clock.advance(1_999);
  await setImmediate();
  assert.ok(!isAnswered);
  clock.advance(1);
  const { statusCode: status, headers, ...answer } = await asked;
  assertError({ status, headers, body: answer.json() }, 503, 'database_unavailable', /not reachable/);
});

test('a readiness check leaves no timer', async () => {
  const { server } = createBareServer();
  const clock = createFakeClock();
  const checks = { isReadOnly: async () => false, schemaState: async () => 'current' as const };
  registerHealth(server, { timers: clock, ...checks });
  assert.equal((await server.inject('/readyz')).statusCode, 200);
  assert.equal(clock.waiting(), 0);
});
