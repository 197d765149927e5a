import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError } from '../../testing/app.ts';
import { createTestDatabase } from '../../testing/database.ts';
import { publishEvents } from '../../testing/events.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { createReceiver } from '../../testing/receiver.ts';
import { createSilentProxy } from '../../testing/silent-proxy.ts';
import { createSubscription } from '../../testing/subscriptions.ts';
import { createTenant } from '../../testing/tenant.ts';
import { createDispatchingApp, guidsAt, until } from '../../testing/webhooks.ts';

const STEP_MS = 1_000;
/** Within this time of a failover without a reset everything works again. */
const RECOVERED_WITHIN_MS = 45_000;

const testDatabase = await createTestDatabase();
const proxy = await createSilentProxy(testDatabase.url);
const databaseTimers = createFakeClock();
const app = await createDispatchingApp({ testDatabase: { ...testDatabase, url: proxy.url }, databaseTimers });
after(async () => {
  await proxy.close();
  await testDatabase.drop();
});

test('after a failover without a reset calls, leases, revocations and deliveries recover in time', async () => {
  const tenant = await createTenant(app);
  const receiver = await createReceiver();
  await createSubscription(app, tenant, { url: receiver.url });
  await app.dispatcher.settle();
  const call = () => app.operate('GET', '/organizations');
  await Promise.all(Array.from({ length: 20 }, call));
  const leaseUntil = async () =>
    (await app.database.queries.selectFrom('dispatchers').select('lease_until').executeTakeFirst())
      ?.lease_until;

  const acceptedBefore = proxy.accepted();
  proxy.silenceOpen();
  const pending = call();
  let answered = false;
  void pending.finally(() => {
    answered = true;
  });
  for (let passedMs = 0; passedMs < RECOVERED_WITHIN_MS; passedMs += STEP_MS) {
    app.clock.advance(STEP_MS);
    databaseTimers.advance(STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await until(() => answered, 'the end of the call');
  const refused = await pending;
  assertError(refused, 503, 'database_unavailable');
  assert.equal(refused.headers['retry-after'], '1');

  assert.equal((await call()).status, 200);
  assert.ok(proxy.accepted() > acceptedBefore);
  await until(async () => {
    app.clock.advance(STEP_MS);
    await app.dispatcher.settle();
    return ((await leaseUntil())?.getTime() ?? 0) > app.clock.now().getTime();
  }, 'a lease that runs');
  await until(() => app.revocations.isUpToDate(), 'fresh revocations');
  const events = await publishEvents(app, tenant, 10);
  await app.dispatcher.settle();
  assert.deepEqual(guidsAt(receiver).slice(1).toSorted(), events.toSorted(), 'each once, none lost');
});
