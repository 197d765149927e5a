import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf, setMoments } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, type TestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  deliveryOf,
  eventIn,
  guidsAt,
  pass,
  queueOf,
  setDisabled,
  showDelivery,
  subscriptionRow,
} from '../../../../testing/webhooks/webhooks.ts';

/** Before its first 2xx an endpoint receives only `subscription.storing` of its own subscription (contract, section 7). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;

const DAY_MS = 24 * 3_600_000;
const FAILS = { kind: 'answer', status: 500 } as const;
type Guid = { guid: string };

async function createInactive() {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  endpoint.behave(FAILS);
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  const change = (changes: object) => founderOf(app, tenant)('PATCH', `/${subscription.guid}`, changes);
  await dispatcher.drain();
  return { tenant, endpoint, subscription, change };
}

/** The events that arrived, each once; fails if one of them is not a first event. */
function firstEventsAt(endpoint: TestEndpoint, { guid }: Guid): Set<string> {
  for (const { event_type, object_guid } of endpoint.received.map(eventIn))
    assert.deepEqual([event_type, object_guid], ['subscription.storing', guid]);
  return new Set(guidsAt(endpoint));
}

/** The 2xx of the first event sends the others. */
async function assertReceives(endpoint: TestEndpoint, events: readonly string[], subscription: Guid) {
  endpoint.behave({ kind: 'answer' });
  await pass(15_000, [app]);
  const received = new Set(guidsAt(endpoint));
  for (const guid of events) assert.ok(received.has(guid));
  assert.deepEqual(await queueOf(app, subscription), []);
}

async function setFirst({ guid }: Guid, first_delivery_guid: string | null): Promise<void> {
  await app.database.queries
    .updateTable('subscriptions')
    .set({ first_delivery_guid })
    .where('guid', '=', guid)
    .execute();
}

test('enabling an inactive subscription sends a new first event and nothing else', async () => {
  const { tenant, endpoint, subscription } = await createInactive();
  await setDisabled(app, subscription, true);
  await dispatcher.drain();
  await setDisabled(app, subscription, false);
  const events = await publishEvents(app, tenant, 2);
  await pass(3_000, [app]);
  assert.equal(firstEventsAt(endpoint, subscription).size, 2);
  await assertReceives(endpoint, events, subscription);
});

test('enabling sends the first event to a URL that was changed while disabled', async () => {
  const { tenant, endpoint, subscription, change } = await createInactive();
  const fresh = await createTestEndpoint();
  fresh.behave(FAILS);
  endpoint.behave({ kind: 'answer' });
  await pass(2_000, [app]);
  assert.ok((await subscriptionRow(app, subscription)).activated_at);
  await setDisabled(app, subscription, true);
  assert.equal((await change({ url: fresh.url })).status, 200);
  await setDisabled(app, subscription, false);
  await dispatcher.drain();
  assert.equal(firstEventsAt(fresh, subscription).size, 1, 'without waiting for another event');
  const events = await publishEvents(app, tenant);
  await pass(3_000, [app]);
  assert.equal(firstEventsAt(fresh, subscription).size, 1);
  await assertReceives(fresh, events, subscription);
});

test('resuming after the first event has failed sends a new one and nothing else', async () => {
  const { tenant, endpoint, subscription, change } = await createInactive();
  await change({ paused: true });
  clock.advance(7 * DAY_MS + 1);
  await app.clusterTasks.runOnce();
  assert.deepEqual(await queueOf(app, subscription), []);
  await change({ paused: false });
  const events = await publishEvents(app, tenant);
  await pass(3_000, [app]);
  assert.equal(firstEventsAt(endpoint, subscription).size, 2);
  await assertReceives(endpoint, events, subscription);
});

test('enabling while paused and resuming while disabled send the first event after both have ended', async () => {
  const { endpoint, subscription, change } = await createInactive();
  for (const [first, second] of [
    [() => setDisabled(app, subscription, false), () => change({ paused: false })],
    [() => change({ paused: false }), () => setDisabled(app, subscription, false)],
  ] as const) {
    const before = firstEventsAt(endpoint, subscription).size;
    await change({ paused: true });
    await setDisabled(app, subscription, true);
    await dispatcher.drain();
    await first();
    await pass(2_000, [app]);
    assert.equal(firstEventsAt(endpoint, subscription).size, before);
    await second();
    await pass(2_000, [app]);
    assert.equal(firstEventsAt(endpoint, subscription).size, before + 1);
  }
});

test('the first event is that of the creation, also when the clock of another node is behind', async () => {
  const behind = createFakeClock();
  const node = await createTestApp({ testDatabase: app.testDatabase, clock: behind });
  behind.advance(clock.now().getTime() - behind.now().getTime() - 20);
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  endpoint.behave(FAILS);
  const idle = await createTestApp({ testDatabase: app.testDatabase, clock });
  const subscription = await createSubscription(idle, tenant, { url: endpoint.url });
  const events = await publishEvents(node, tenant);
  await pass(3_000, [app]);
  assert.equal(firstEventsAt(endpoint, subscription).size, 1);
  await assertReceives(endpoint, events, subscription);
});

test('deliveries that wait without a first event get one', async () => {
  const { tenant, endpoint, subscription } = await createInactive();
  const events = await publishEvents(app, tenant, 3);
  const waiting = await deliveryOf(app, subscription, events[0] ?? '');
  // As left by earlier versions: never chosen, ended, and one of the waiting deliveries.
  const ended = (await subscriptionRow(app, subscription)).guid;
  for (const [index, first] of [null, ended, waiting.guid].entries()) {
    await setFirst(subscription, first);
    await pass(11_000, [app]);
    assert.equal(firstEventsAt(endpoint, subscription).size, 2 + index);
  }
  await assertReceives(endpoint, events, subscription);
});

test('a delivery that waits for a first event shows no next attempt', async () => {
  const { tenant, subscription } = await createInactive();
  const [event = ''] = await publishEvents(app, tenant);
  await setFirst(subscription, null);
  const { guid } = await deliveryOf(app, subscription, event);
  assert.equal((await showDelivery(app, tenant, guid)).next_attempt_at, undefined);
});

/** Nodes without a dispatcher, so that nothing else changes the queue. */
async function createWithoutFirst() {
  const node = await createTestApp();
  const other = await createTestApp({ testDatabase: node.testDatabase, clock: node.clock });
  const subscription = await createSubscription(node, await createTenant(node));
  await node.database.queries.deleteFrom('delivery_queue').execute();
  const known = await node.subscriptions.endpoints([subscription.guid]);
  const renew = (by = node) => by.subscriptions.renewFirst(known, node.clock.now());
  return { node, other, subscription, renew };
}

test('two nodes enqueue one first event', async () => {
  const { node, other, subscription, renew } = await createWithoutFirst();
  const renewed = await Promise.all([renew(node), renew(other)]);
  const guids = renewed.flatMap((firsts) => [...firsts.values()]);
  assert.deepEqual(
    (await queueOf(node, subscription)).map(({ delivery_guid }) => delivery_guid),
    guids,
  );
  assert.equal(guids.length, 1);
  assert.equal((await renew(other)).size, 0);
});

test('an endpoint that has been stopped or activated since it was read gets no first event', async () => {
  const { node, subscription, renew } = await createWithoutFirst();
  for (const moment of ['activated_at', 'disabled_at', 'paused_at', 'failed_at', 'deleted_at'] as const) {
    await setMoments(node, subscription.guid, { [moment]: node.clock.now() });
    assert.equal((await renew()).size, 0, moment);
    await setMoments(node, subscription.guid, { [moment]: null });
  }
  assert.equal((await renew()).size, 1);
});

test('enabling and resuming keep a first event that is still waiting', async () => {
  const node = await createTestApp();
  const tenant = await createTenant(node);
  const subscription = await createSubscription(node, tenant);
  const before = await queueOf(node, subscription);
  await setDisabled(node, subscription, true);
  await setDisabled(node, subscription, false);
  for (const paused of [true, false])
    await founderOf(node, tenant)('PATCH', `/${subscription.guid}`, { paused });
  assert.equal((await subscriptionRow(node, subscription)).first_delivery_guid, before[0]?.delivery_guid);
  assert.deepEqual(await queueOf(node, subscription), before);
});
