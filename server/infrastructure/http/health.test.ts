import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createReadOnlySwitch } from '../../../testing/database/read-only-database.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';

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

  await server.setWritable();
  await until(async () => {
    databaseTimers.advance(CHECK_MS);
    return (await ready()).status === 200;
  }, 'readiness');
  assert.equal((await write()).status, 201);
});

test('a node is ready while slow calls use every connection that is not reserved', async () => {
  const app = await createTestApp();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const slow = Array.from({ length: 5 }, () => app.database.transaction(() => over));
  const { body } = await app.call({ url: '/readyz' });
  end();
  await Promise.all(slow);
  assert.deepEqual(body, { status: 'ok' });
});
