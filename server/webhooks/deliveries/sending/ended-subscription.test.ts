import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { deliveriesOf, insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, setMoments } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  deliveryOf,
  guidsAt,
  metricOf,
  queueOf,
  setDisabled,
  showDelivery,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import { START_LIMIT } from '../queue/lanes/limit.ts';

/** Limit of requests in flight after one answer. */
const INITIAL_IN_FLIGHT = START_LIMIT + 1;

/** If the subscription is disabled, failed or deleted, future retries are prevented (specification, Delivery). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const HOUR_MS = 3_600_000;

/**
 * Advances time: the dispatcher reads subscriptions again after up to a second. Each poll has ended before the next step,
 * because a walk over the queue during which the clock jumps is followed by a pause.
 */
const untilLater = (isSo: () => Promise<boolean>) =>
  until(async () => {
    clock.advance(250);
    await dispatcher.drain();
    return isSo();
  });

async function createFailing() {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'answer', status: 500 });
  const subscription = await createSubscription(app, tenant, { url: endpoint.url, active: true });
  const events = await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  assert.equal((await queueOf(app, subscription)).length, 4);
  return { tenant, endpoint, subscription, events };
}

const endings = {
  'disabled by the operator': (guid: string) => setDisabled(app, { guid }, true),
  failed: (guid: string) => setMoments(app, guid, { failed_at: clock.now() }),
  deleted: (guid: string) => setMoments(app, guid, { scheduled_deletion_at: clock.now() }),
};

for (const [ending, end] of Object.entries(endings)) {
  test(`waiting deliveries fail without another attempt when the subscription is ${ending}`, async () => {
    const { tenant, endpoint, subscription, events } = await createFailing();
    const before = endpoint.received.length;
    const failed = await metricOf(app, 'portico_deliveries_total{state="failed"}');
    clock.advance(1_000);
    await end(subscription.guid);
    await dispatcher.drain();
    assert.deepEqual(await queueOf(app, subscription), []);
    assert.equal(await metricOf(app, 'portico_deliveries_total{state="failed"}'), failed + 4);
    const counted = await app.database.queries
      .selectFrom('delivery_counters')
      .select('failed')
      .where('subscription_guid', '=', subscription.guid)
      .execute();
    assert.equal(
      counted.reduce((sum, row) => sum + row.failed, 0),
      4,
      'in the statistics',
    );
    for (const event of events) {
      const { guid } = await deliveryOf(app, subscription, event);
      const view = await showDelivery(app, tenant, guid);
      assert.equal(view.state, 'failed');
      assert.equal(view.failed_at, clock.now().toISOString());
      assert.deepEqual([view.attempt_count, view.next_attempt_at], [1, undefined]);
      assert.deepEqual([view.failure_kind, view.response_status], ['rejected', 500], 'of its last attempt');
    }
    clock.advance(HOUR_MS);
    await dispatcher.drain();
    assert.equal(endpoint.received.length, before);
  });
}

test('deliveries to a disabled subscription are created as failed and not sent', async () => {
  const { tenant, endpoint, subscription } = await createFailing();
  await setDisabled(app, subscription, true);
  await dispatcher.drain();
  const before = endpoint.received.length;
  const events = await publishEvents(app, tenant, 2);
  await dispatcher.drain();
  for (const event of events) {
    const { guid } = await deliveryOf(app, subscription, event);
    const view = await showDelivery(app, tenant, guid);
    assert.equal(view.state, 'failed');
    assert.deepEqual([view.attempt_count, view.attempts.length], [0, 0]);
    assert.equal(view.failed_at, view.created_at);
  }
  assert.equal(endpoint.received.length, before);
});

for (const ending of ['failed', 'deleted'] as const)
  test(`no delivery is created for a ${ending} subscription`, async () => {
    const { tenant, subscription } = await createFailing();
    await endings[ending](subscription.guid);
    const before = (await deliveriesOf(app, subscription)).length;
    await publishEvents(app, tenant, 2);
    await dispatcher.drain();
    assert.equal((await deliveriesOf(app, subscription)).length, before);
  });

test('an enabled subscription receives new events, and earlier deliveries stay failed', async () => {
  const { tenant, endpoint, subscription, events } = await createFailing();
  await setDisabled(app, subscription, true);
  await dispatcher.drain();
  const missed = await publishEvents(app, tenant, 2);
  await setDisabled(app, subscription, false);
  endpoint.behave({ kind: 'answer' });
  const fresh = await publishEvents(app, tenant, 2);
  await dispatcher.drain();
  clock.advance(HOUR_MS);
  await dispatcher.drain();
  for (const event of fresh) assert.notEqual((await deliveryOf(app, subscription, event)).completed_at, null);
  for (const event of [...events, ...missed])
    assert.notEqual((await deliveryOf(app, subscription, event)).failed_at, null);
  assert.ok(missed.every((event) => !guidsAt(endpoint).includes(event)));
});

test('an event that is accepted after the subscription is enabled again is sent, however late a poll sees that', async () => {
  const { testDatabase } = app;
  const publisher = await createTestApp({ testDatabase, clock });
  const { tenant, endpoint, subscription } = await createFailing();
  endpoint.behave({ kind: 'answer' });
  await setMoments(app, subscription.guid, { disabled_at: clock.now() });
  clock.advance(HOUR_MS);
  let fresh: string[] = [];
  const { endpoints } = app.subscriptions;
  const reading = mock.method(app.subscriptions, 'endpoints', async (guids: readonly string[]) => {
    const found = await endpoints(guids);
    if (fresh.length === 0 && found.some(({ guid }) => guid === subscription.guid)) {
      await setMoments(app, subscription.guid, { disabled_at: null });
      fresh = await publishEvents(publisher, tenant, 2);
    }
    return found;
  });
  await dispatcher.drain();
  reading.mock.restore();
  await dispatcher.drain();
  assert.equal(fresh.length, 2);
  for (const event of fresh) assert.notEqual((await deliveryOf(app, subscription, event)).completed_at, null);
});

test('a request in flight when its subscription is disabled may finish and counts', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const slow = hold();
  endpoint.behave(slow);
  const [event = ''] = await publishEvents(app, tenant);
  await endpoint.waitForCount(2);
  await setDisabled(app, subscription, true);
  slow.release({ status: 200, body: 'in time' });
  await dispatcher.drain();
  const { completed_at, failed_at } = await deliveryOf(app, subscription, event);
  assert.notEqual(completed_at, null);
  assert.equal(failed_at, null);
});

test('a failed request in flight of a disabled subscription is not retried', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const slow = hold();
  endpoint.behave(slow);
  const [event = ''] = await publishEvents(app, tenant);
  await endpoint.waitForCount(2);
  await setDisabled(app, subscription, true);
  slow.release({ status: 500 });
  await dispatcher.drain();
  await dispatcher.drain();
  const { failed_at, attempt_count } = await deliveryOf(app, subscription, event);
  assert.notEqual(failed_at, null);
  assert.equal(attempt_count, 1);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('deliveries held by a dispatcher are not sent after their subscription ended', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const slow = hold();
  endpoint.behave(slow);
  await insertDeliveries(
    app,
    tenant,
    subscription,
    Array.from({ length: 200 }, () => ({})),
  );
  const drained = dispatcher.drain();
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  await setDisabled(app, subscription, true);
  // No time passes: the requests in flight would time out.
  await until(
    async () => (await queueOf(app, subscription)).filter((row) => row.leased_by).length <= INITIAL_IN_FLIGHT,
    'the release of the others',
  );
  slow.release();
  await drained;
  await dispatcher.drain();
  await untilLater(async () => (await queueOf(app, subscription)).length === 0);
  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT);
  const deliveries = await deliveriesOf(app, subscription);
  assert.equal(deliveries.filter(({ completed_at }) => completed_at !== null).length, 1 + INITIAL_IN_FLIGHT);
  assert.equal(deliveries.filter(({ failed_at }) => failed_at !== null).length, 200 - INITIAL_IN_FLIGHT);
});

test('held deliveries are not sent after the scheduled deletion, even before a refresh', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  await setMoments(app, subscription.guid, {
    scheduled_deletion_at: new Date(clock.now().getTime() + 1_000),
  });
  const slow = hold();
  endpoint.behave(slow);
  await publishEvents(app, tenant, 50);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  clock.advance(1_000);
  slow.release();
  await dispatcher.drain();
  await dispatcher.drain();
  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT);
  await untilLater(async () => (await queueOf(app, subscription)).length === 0);
});

test('deliveries of others are claimed while the backlogs of ended subscriptions are failed', async () => {
  const publisher = await createTestApp({ testDatabase: app.testDatabase, clock });
  const [one, two] = [await createFailing(), await createFailing()];
  const other = await createTenant(app);
  const endpoint = await createTestEndpoint();
  await createSubscription(app, other, { url: endpoint.url });
  await dispatcher.drain();
  for (const { subscription } of [one, two])
    await setMoments(app, subscription.guid, { disabled_at: clock.now() });
  const { hasEnded } = app.subscriptions;
  const slow = mock.method(app.subscriptions, 'hasEnded', (...args: Parameters<typeof hasEnded>) => {
    clock.advance(500);
    return hasEnded(...args);
  });
  await dispatcher.poll();
  assert.equal(slow.mock.callCount(), 1, 'one batch per poll');
  const [event = ''] = await publishEvents(publisher, other);
  await dispatcher.poll();
  await dispatcher.idle();
  slow.mock.restore();
  assert.ok(guidsAt(endpoint).includes(event));
  await untilLater(
    async () =>
      [...(await queueOf(app, one.subscription)), ...(await queueOf(app, two.subscription))].length === 0,
  );
});
