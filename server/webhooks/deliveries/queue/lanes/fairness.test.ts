import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../../../../../testing/app/app.ts';
import { createTenant, type Tenant } from '../../../../../testing/app/tenant.ts';
import { insertDeliveries } from '../../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold, refusing } from '../../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  guidsAt,
  metricOf,
  queueOf,
  until,
} from '../../../../../testing/webhooks/webhooks.ts';

/** A dead endpoint does not affect others. */
const HELD = 'portico_deliveries_held';
/** As in `lane.ts`. */
const MAX_HELD_FOR_ONE = 5_000;
const MAX_HELD_WHILE_UNPROVEN = 32;
const MAX_HELD_WHILE_UNANSWERED = 2;
/** Of one statement, as in `claims.ts`: backlogs exceed it. */
const MAX_CLAIM = 500;
const AT_ONCE = 2_000;
const IN_FLIGHT = 'portico_deliveries_in_flight';
const LIMITED = 'portico_lanes_limited';

type Backlog = { tenant: Tenant; subscription: Awaited<ReturnType<typeof createSubscription>> };

/** A subscription in its own tenant with `count` due deliveries. */
async function createBacklog(app: TestApp, url: string, count: number): Promise<Backlog> {
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant, { url, active: true });
  await addBacklog(app, { tenant, subscription }, count);
  return { tenant, subscription };
}

async function addBacklog(app: TestApp, { tenant, subscription }: Backlog, count: number): Promise<void> {
  for (let left = count; left > 0; left -= AT_ONCE)
    await insertDeliveries(
      app,
      tenant,
      subscription,
      Array.from({ length: Math.min(left, AT_ONCE) }, () => ({})),
    );
}

/** Polls the queue without waiting for the requests. */
function look(app: TestApp): void {
  void app.dispatcher.drain();
}

/**
 * For tests whose endpoints are healthy at their end, and whose clock stands still during polls: otherwise a pause
 * follows. The others have an application of their own.
 */
const app = await createDispatchingApp();

test('held deliveries are bounded', async () => {
  const app = await createDispatchingApp();
  const endpoint = await createTestEndpoint();
  const backlog = await createBacklog(app, endpoint.url, 0);
  await app.dispatcher.drain();
  // No time passes, so the endpoint counts as responsive.
  endpoint.behave({ kind: 'hang' });
  await addBacklog(app, backlog, MAX_HELD_FOR_ONE + MAX_CLAIM);
  const pollAgain = async () => {
    look(app);
    return metricOf(app, HELD);
  };
  await until(async () => (await pollAgain()) >= MAX_HELD_FOR_ONE, 'the limit');
  for (let poll = 0; poll < 10; poll += 1) await pollAgain();
  assert.equal(await metricOf(app, HELD), MAX_HELD_FOR_ONE);
});

test('no held delivery is left at the end', async () => {
  const healthy = await createTestEndpoint();
  const count = 2 * MAX_CLAIM;
  const { subscription } = await createBacklog(app, healthy.url, count);
  await app.dispatcher.drain();
  assert.equal(await metricOf(app, HELD), 0);
  assert.equal(await metricOf(app, IN_FLIGHT), 0);
  assert.equal(new Set(guidsAt(healthy)).size, count + 1);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('a long backlog of A does not delay the deliveries of B in the same claim', async () => {
  const shared = await createTestEndpoint();
  const a = await createBacklog(app, `${shared.url}/a`, 0);
  const b = await createBacklog(app, `${shared.url}/b`, 0);
  await app.dispatcher.drain();
  // One claim takes both, A first.
  await addBacklog(app, a, MAX_CLAIM - 100);
  await addBacklog(app, b, 20);
  await app.dispatcher.drain();
  const paths = shared.received.map(({ path }) => path);
  assert.equal(paths.filter((path) => path === '/a').length, MAX_CLAIM - 99);
  const placesOfB = paths.flatMap((path, place) => (path === '/b' ? [place] : []));
  assert.equal(placesOfB.length, 21);
  assert.ok((placesOfB[10] ?? MAX_CLAIM) < 200, `half of B was there after ${placesOfB[10]} requests`);
  assert.deepEqual(await queueOf(app, a.subscription), []);
  assert.deepEqual(await queueOf(app, b.subscription), []);
});

test('queued deliveries of an endpoint are sent before new ones', async () => {
  const endpoint = await createTestEndpoint();
  const backlog = await createBacklog(app, endpoint.url, 0);
  const { tenant, subscription } = backlog;
  await app.dispatcher.drain();
  const slow = hold();
  endpoint.behave(slow);
  await addBacklog(app, backlog, MAX_CLAIM + 200);
  look(app);
  await endpoint.waitForCount(2);
  const recent = await publishEvents(app, tenant, 10);
  endpoint.behave({ kind: 'answer' });
  slow.release();
  await until(async () => {
    app.clock.advance(10);
    await app.dispatcher.drain();
    return (await queueOf(app, subscription)).length === 0;
  }, 'all of them sent');
  const slots = recent.map((guid) => guidsAt(endpoint).indexOf(guid));
  assert.ok(Math.min(...slots) > 600, `the first of them arrived as number ${Math.min(...slots)}`);
});

test('an endpoint that starts to hang requeues its held deliveries and receives them once it answers', async () => {
  const app = await createDispatchingApp();
  const endpoint = await createTestEndpoint();
  const { tenant, subscription } = await createBacklog(app, endpoint.url, 0);
  await app.dispatcher.drain();
  endpoint.behave({ kind: 'hang' });
  const events = await publishEvents(app, tenant, 600);
  assert.equal(await metricOf(app, HELD), events.length);
  /** Advances time, so that leases are renewed. */
  const untilLater = (isSo: () => Promise<boolean>, what: string) =>
    until(async () => {
      app.clock.advance(250);
      return isSo();
    }, what);
  const leased = async () =>
    (await queueOf(app, subscription)).filter(({ leased_by }) => leased_by !== null).length;
  await untilLater(
    async () => (await metricOf(app, HELD)) <= MAX_HELD_WHILE_UNANSWERED && (await leased()) > 0,
    'little in memory',
  );
  assert.ok((await leased()) <= MAX_HELD_WHILE_UNANSWERED);
  endpoint.behave({ kind: 'answer' });
  // An empty queue is not enough: the rest of the batch may not be requeued yet.
  const received = () => new Set(guidsAt(endpoint).slice(1));
  await untilLater(
    async () => received().size === events.length && (await queueOf(app, subscription)).length === 0,
    'all of them sent',
  );
  assert.deepEqual(received(), new Set(events));
});

test('an endpoint that keeps failing gets a pause between attempts', async () => {
  const failing = await createTestEndpoint();
  failing.behave({ kind: 'answer', status: 500 });
  await createBacklog(app, failing.url, 100);
  await app.dispatcher.drain();
  const before = failing.received.length;
  assert.ok(before < 20, `${before} requests in no time`);
  for (let step = 0; step < 20; step += 1) {
    app.clock.advance(50);
    await app.dispatcher.drain();
  }
  const more = failing.received.length - before;
  assert.ok(more >= 10 && more <= 40, `${more} requests in a second`);
});

test('600 deliveries to a dead and to a hanging endpoint do not delay a healthy one', async () => {
  const app = await createDispatchingApp();
  const hanging = await createTestEndpoint();
  hanging.behave({ kind: 'hang' });
  const healthy = await createTestEndpoint();
  const dead = await createBacklog(app, await refusing(), 600);
  await createBacklog(app, hanging.url, 600);
  const { tenant } = await createBacklog(app, healthy.url, 200);
  const startedAt = app.clock.now();
  /** Without time passing, nothing else starts the next poll when the first one ended before the first answer. */
  const hasReceived = async (count: number) => {
    look(app);
    return healthy.received.length >= count;
  };
  await until(() => hasReceived(201), 'the backlog');
  const events = await publishEvents(app, tenant, 100);
  await until(() => hasReceived(301), 'the new events');
  assert.ok(events.every((guid) => guidsAt(healthy).includes(guid)));
  assert.deepEqual(app.clock.now(), startedAt, 'no time has passed');

  // The refusing endpoint has failed by now; the hanging one fails at its first timeouts.
  assert.equal(await metricOf(app, LIMITED), 1);
  assert.equal((await queueOf(app, dead.subscription)).length, 601);
  app.clock.advance(10_000);
  await until(async () => (await metricOf(app, LIMITED)) === 2, 'the limit of the hanging one');
  app.clock.advance(50);
  await until(async () => (await metricOf(app, IN_FLIGHT)) > 0, 'the next attempt');
  assert.ok((await metricOf(app, IN_FLIGHT)) <= 2, 'one at a time for each of the two');
});

test('backlogs of hanging endpoints do not use up the memory of a healthy one', async () => {
  const app = await createDispatchingApp();
  const hanging = await createTestEndpoint();
  hanging.behave({ kind: 'hang' });
  const healthy = await createTestEndpoint();
  const backlogs = 18;
  for (let nth = 0; nth < backlogs; nth += 1)
    await createBacklog(app, hanging.url, MAX_HELD_WHILE_UNPROVEN + 8);
  look(app);
  await hanging.waitForCount(backlogs);
  const atMost = backlogs * MAX_HELD_WHILE_UNANSWERED;
  await until(async () => (await metricOf(app, HELD)) === atMost, 'all that is held for them');
  assert.equal(await metricOf(app, IN_FLIGHT), backlogs, 'one each until they have answered');
  const { tenant } = await createBacklog(app, healthy.url, 0);
  await publishEvents(app, tenant, 10);
  // Most are queued until the endpoint has answered, and the first poll may end before that.
  await until(() => {
    look(app);
    return healthy.received.length >= 11;
  }, 'everything at the healthy one');
  assert.equal(healthy.received.length, 11);
});
