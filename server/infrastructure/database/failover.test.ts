import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { decodeJwt } from 'jose';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { PATIENCE_MS } from '../../../testing/app/patience.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createSilentProxy } from '../../../testing/database/silent-proxy.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, deliveryOf, guidsAt } from '../../../testing/webhooks/webhooks.ts';

const STEP_MS = 1_000;
/** The time limit for recovery after a failover without a reset. */
const RECOVERED_WITHIN_MS = 45_000;
/** Round trips without an open query through the proxy, after which a step has started no further one. */
const QUIET_ROUND_TRIPS = 20;

// Revocations are renewed by an interval, which advances with the virtual time.
mock.timers.enable({ apis: ['setInterval'] });
const testDatabase = await createTestDatabase();
const proxy = await createSilentProxy(testDatabase.url);
const databaseTimers = createFakeClock();
const app = await createDispatchingApp({ testDatabase: { ...testDatabase, url: proxy.url }, databaseTimers });
/** A node that keeps its connections. */
const other = await createTestApp({ testDatabase, clock: app.clock });
after(async () => {
  await proxy.close();
  await testDatabase.drop();
});

const dispatcherLease = async () =>
  (
    await other.database.queries.selectFrom('dispatchers').select('lease_until').executeTakeFirst()
  )?.lease_until.getTime() ?? 0;

async function passStep(): Promise<void> {
  app.clock.advance(STEP_MS);
  databaseTimers.advance(STEP_MS);
  mock.timers.tick(STEP_MS);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let quiet = 0; quiet < QUIET_ROUND_TRIPS; quiet = proxy.owesAnswer() ? 0 : quiet + 1) {
    assert.ok(performance.now() < giveUpAt, 'PostgreSQL owes an answer');
    await dispatcherLease();
  }
}

/** Advances time until all conditions are met; returns the time of each. */
async function recoveryTimes(conditions: Record<string, () => boolean | Promise<boolean>>) {
  const times = new Map<string, number>();
  for (let passedMs = STEP_MS; passedMs <= RECOVERED_WITHIN_MS; passedMs += STEP_MS) {
    await passStep();
    for (const [name, isMet] of Object.entries(conditions))
      if (!times.has(name) && (await isMet())) times.set(name, passedMs);
  }
  return times;
}

test('after a failover without a reset calls, leases, revocations and deliveries recover in time', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: receiver.url });
  await app.dispatcher.drain();
  const call = () => app.operate('GET', '/organizations');
  await Promise.all(Array.from({ length: 20 }, call));
  const token = await tokenOf(app, tenant.bankKey, 'customers:read');
  const use = () => app.call({ url: '/api/customers', token });
  assert.equal((await use()).status, 200);
  const { sub = '', jti = '' } = decodeJwt(token);

  const answer = hold();
  receiver.behave(answer);
  const [inFlight = ''] = await publishEvents(app, tenant, 1);
  await receiver.waitForCount(2);
  const leaseBefore = await dispatcherLease();
  assert.ok(leaseBefore > app.clock.now().getTime());
  assert.ok(app.revocations.isUpToDate());

  const acceptedBefore = proxy.accepted();
  proxy.silenceOpen();
  answer.release({ status: 204 });
  receiver.behave({ kind: 'answer', status: 204 });
  const pending = call();
  let answered = false;
  void pending.finally(() => {
    answered = true;
  });
  const { clientId, secret } = tenant.bankKey;
  const revoking = other.call({
    method: 'POST',
    url: '/oauth/revoke',
    payload: { client_id: clientId, client_secret: secret, token },
  });

  let isServed = false;
  let wasStale = false;
  const times = await recoveryTimes({
    'calls are served': () => {
      if (answered) void call().then(({ status }) => (isServed ||= status === 200));
      return isServed;
    },
    'the dispatcher has a new lease': async () => {
      const leaseUntil = await dispatcherLease();
      return leaseUntil > leaseBefore && leaseUntil > app.clock.now().getTime();
    },
    'the revocations are fresh': () => {
      wasStale ||= !app.revocations.isUpToDate();
      return wasStale && app.revocations.isUpToDate() && app.revocations.isRevoked([sub, jti]) === true;
    },
    'the outcome of the delivery in flight is recorded': async () =>
      (await deliveryOf(other, subscription, inFlight)).completed_at !== null,
  });
  assert.equal(times.size, 4, `not recovered in time: ${JSON.stringify([...times])}`);
  const refused = await pending;
  assertError(refused, 503, 'database_unavailable');
  assert.equal(refused.headers['retry-after'], '1');
  assert.equal((await revoking).status, 200);

  assertError(await use(), 401, 'authentication_failed');
  assert.ok(proxy.accepted() > acceptedBefore);
  const events = await publishEvents(app, tenant, 10);
  await app.dispatcher.drain();
  const arrived = guidsAt(receiver).slice(1);
  assert.deepEqual(
    arrived.filter((guid) => guid !== inFlight).toSorted(),
    events.toSorted(),
    'each delivered once, none lost',
  );
});
