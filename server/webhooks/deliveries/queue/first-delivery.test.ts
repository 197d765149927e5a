import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp, type TestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf, setMoments } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  countConcurrency,
  createDispatchingApp,
  createNodes,
  deliveryOf,
  guidsAt,
  pass,
  queueOf,
  setDisabled,
  showDelivery,
  subscriptionRow,
  typesAt,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import { ENOUGH_LIMIT, START_LIMIT } from './lanes/limit.ts';

/** Until an endpoint answers 2xx it receives only its first event (contract, section 7). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
/** Creates deliveries without sending them. */
const idle = await createTestApp({ testDatabase: app.testDatabase, clock });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FAILS = { kind: 'answer', status: 500 } as const;

/** An endpoint that answered its first event with 500. */
async function createInactive(node: TestApp = app) {
  const tenant = await createTenant(node);
  const endpoint = await createTestEndpoint();
  endpoint.behave(FAILS);
  const subscription = await createSubscription(node, tenant, { url: endpoint.url });
  await dispatcher.drain();
  assert.deepEqual(typesAt(endpoint), ['subscription.storing']);
  return { tenant, endpoint, subscription };
}

const statesOf = async (subscription: { guid: string }) =>
  (await deliveriesOf(app, subscription)).map(({ completed_at, failed_at }) =>
    completed_at ? 'completed' : failed_at ? 'failed' : 'waiting',
  );

async function redeliver(tenant: Tenant, eventGuid: string, subscriptionGuid: string) {
  return app.call({
    ...{ method: 'POST', url: '/api/subscription_deliveries' },
    token: await userToken(app, tenant.organizationGuid),
    payload: { subscription_event_guid: eventGuid, subscription_guid: subscriptionGuid },
  });
}

test('before the first 2xx only the first event and its retries are sent', async () => {
  const { tenant, endpoint, subscription } = await createInactive();
  const [one = ''] = await publishEvents(app, tenant);
  await publishEvents(app, tenant, 40);
  await publishEvents(idle, tenant, 3);
  assert.equal((await redeliver(tenant, one, subscription.guid)).status, 201);
  for (let seconds = 0; seconds < 15; seconds += 1) await pass(1_000, [app]);
  assert.deepEqual(typesAt(endpoint), Array(4).fill('subscription.storing'), 'at 0, 2, 6 and 14 s');
  assert.equal((await queueOf(app, subscription)).length, 46);
  const rows = await app.database.queries
    .selectFrom('delivery_batches')
    .select('guid')
    .where('subscription_guid', '=', subscription.guid)
    .execute();
  assert.deepEqual(rows, []);
});

test('waiting deliveries are storing without a next attempt; the first one shows its own', async () => {
  const { tenant, subscription } = await createInactive();
  const [event = ''] = await publishEvents(app, tenant);
  await dispatcher.drain();
  const [first] = await deliveriesOf(app, subscription);
  const waiting = await showDelivery(app, tenant, (await deliveryOf(app, subscription, event)).guid);
  assert.deepEqual(
    [waiting.state, waiting.attempt_count, waiting.next_attempt_at],
    ['storing', 0, undefined],
  );
  const shown = await showDelivery(app, tenant, first?.guid ?? '');
  assert.equal(shown.next_attempt_at, new Date(clock.now().getTime() + 2_000).toISOString());
  const { body } = await app.call({
    url: `/api/subscription_deliveries?subscription_guid=${subscription.guid}`,
    token: await userToken(app, tenant.organizationGuid),
  });
  const listed = body.objects as Record<string, unknown>[];
  assert.deepEqual(
    listed.map((each) => each.next_attempt_at),
    [undefined, shown.next_attempt_at],
  );
});

test('the first 2xx sends every waiting delivery once, paced', async () => {
  const { tenant, endpoint, subscription } = await createInactive();
  const events = [...(await publishEvents(app, tenant, 100)), ...(await publishEvents(idle, tenant, 100))];
  const { seen, most } = countConcurrency(endpoint);
  clock.advance(2_000);
  await dispatcher.drain();
  assert.deepEqual(guidsAt(endpoint).slice(2).toSorted(), events.toSorted());
  assert.equal(seen[0]?.open, 1);
  assert.ok(most() <= ENOUGH_LIMIT * 4, `${most()} at once`);
  assert.deepEqual(await queueOf(app, subscription), []);
  assert.equal((await founderOf(app, tenant)('GET', `/${subscription.guid}`)).body.state, 'active');
});

/** Maximum pause after a walk over the queue during which the clock jumped. */
const REST_MS = 11_000;

test('another node sends waiting deliveries too, even without a notification', async () => {
  const { a, b, createIdle, tenant } = await createNodes();
  const maker = await createIdle();
  const endpoint = await createTestEndpoint();
  endpoint.behave(FAILS);
  const subscription = await createSubscription(a, tenant, { url: endpoint.url });
  await pass(1_000, [a, b]);
  const events = await publishEvents(a, tenant, 20);
  endpoint.behave({ kind: 'answer' });
  // As written by a node that dies right after it.
  const at = a.clock.now();
  const outcome = { guid: subscription.guid, succeededAt: at, failingSince: undefined, at };
  await maker.database.transaction((transaction) =>
    maker.subscriptions.applyOutcomes(transaction, [{ ...outcome, url: endpoint.url }]),
  );
  await a.dispatcher.stop();
  await pass(REST_MS, [b]);
  assert.deepEqual(new Set(guidsAt(endpoint)).size, events.length + 1);
  assert.deepEqual(await queueOf(b, subscription), []);
});

test('two nodes choose the same first delivery, and it is claimed once', async () => {
  const { a, b, createIdle, tenant } = await createNodes();
  const maker = await createIdle();
  const endpoint = await createTestEndpoint();
  const slow = hold();
  endpoint.behave(slow);
  const subscription = await createSubscription(maker, tenant, { url: endpoint.url });
  const settling = a.dispatcher.drain();
  await endpoint.waitForCount(1);
  const events = await publishEvents(maker, tenant, 10);
  await b.dispatcher.drain();
  assert.equal(endpoint.received.length, 1, 'the first delivery is in flight, and no other is sent');
  endpoint.behave({ kind: 'answer' });
  slow.release();
  await settling;
  await pass(REST_MS, [a, b]);
  assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
  assert.deepEqual(await queueOf(a, subscription), []);
});

test('a redelivery waits for the first 2xx, too', async () => {
  const { tenant, endpoint, subscription } = await createInactive();
  await setDisabled(app, subscription, true);
  await publishEvents(app, tenant, 5);
  await dispatcher.drain();
  await setDisabled(app, subscription, false);
  clock.advance(1_000);
  const since = new Date(clock.now().getTime() - DAY_MS).toISOString();
  const { status } = await app.call({
    ...{ method: 'POST', url: '/api/subscription_recoveries' },
    token: await userToken(app, tenant.organizationGuid),
    payload: { subscription_guid: subscription.guid, since },
  });
  assert.equal(status, 201);
  await dispatcher.drain();
  assert.deepEqual(typesAt(endpoint), Array(2).fill('subscription.storing'));
  assert.equal(new Set(guidsAt(endpoint)).size, 2, 'the first event has failed, and there is another');
  endpoint.behave({ kind: 'answer' });
  await pass(2_000, [app]);
  assert.equal(new Set(guidsAt(endpoint)).size, 7);
  assert.equal((await statesOf(subscription)).filter((state) => state === 'completed').length, 7);
});

test('seven days without a 2xx fail the subscription and its waiting deliveries', async () => {
  const { tenant, subscription } = await createInactive();
  await publishEvents(app, tenant, 10);
  await setMoments(app, subscription.guid, {
    deliveries_failing_since: new Date(clock.now().getTime() - 7 * DAY_MS),
  });
  await app.subscriptions.sweepFailed();
  await dispatcher.drain();
  assert.deepEqual(new Set(await statesOf(subscription)), new Set(['failed']));
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('a delivery that waits for seven days for a first 2xx fails, also after a change of the URL', async () => {
  const { tenant, subscription } = await createInactive();
  const [old = ''] = await publishEvents(app, tenant);
  clock.advance(6 * DAY_MS);
  const endpoint = await createTestEndpoint();
  endpoint.behave(FAILS);
  await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url: endpoint.url });
  const [young = ''] = await publishEvents(app, tenant);
  clock.advance(DAY_MS + 1);
  await dispatcher.drain();
  await app.clusterTasks.runOnce();
  assert.ok((await deliveryOf(app, subscription, old)).failed_at);
  endpoint.behave({ kind: 'answer' });
  await pass(10_000, [app]);
  assert.ok((await deliveryOf(app, subscription, young)).completed_at);
  assert.equal(guidsAt(endpoint).includes(old), false);
});

test('a deleting subscription receives waiting deliveries only if it answers before its deletion', async () => {
  for (const answers of [true, false]) {
    const { tenant, endpoint, subscription } = await createInactive();
    await publishEvents(app, tenant, 3);
    await founderOf(app, tenant)('DELETE', `/${subscription.guid}`);
    if (answers) endpoint.behave({ kind: 'answer' });
    clock.advance(2_000);
    await dispatcher.drain();
    assert.equal(new Set(guidsAt(endpoint)).size, answers ? 5 : 1);
    await setMoments(app, subscription.guid, { scheduled_deletion_at: clock.now() });
    await dispatcher.drain();
    const ends = new Set(await statesOf(subscription));
    assert.deepEqual(ends, new Set([answers ? 'completed' : 'failed']));
  }
});

test('a new url receives one event until it answers 2xx; a 2xx of the old url does not count', async () => {
  const tenant = await createTenant(app);
  const [before, now] = [await createTestEndpoint(), await createTestEndpoint()];
  const subscription = await createSubscription(app, tenant, { url: before.url });
  await dispatcher.drain();
  const slow = hold();
  before.behave(slow);
  now.behave(FAILS);
  const old = await publishEvents(app, tenant, 30);
  // The answer to the first event has raised the limit by one.
  await before.waitForCount(1 + START_LIMIT + 1);
  const changed = await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url: now.url });
  assert.deepEqual([changed.status, changed.body.state], [200, 'storing']);
  const free = async () =>
    (await queueOf(app, subscription)).filter(({ leased_by }) => leased_by === null).length;
  // No time passes: the new url would get a retry.
  const inFlight = START_LIMIT + 1;
  await until(async () => (await free()) >= old.length - inFlight, 'requeued deliveries of the old url');
  slow.release();
  await dispatcher.drain();
  assert.equal((await subscriptionRow(app, subscription)).activated_at, null);
  const fresh = await publishEvents(app, tenant, 30);
  await dispatcher.drain();
  assert.equal(now.received.length, 1);
  now.behave({ kind: 'answer' });
  await pass(2_000, [app]);
  assert.ok((await subscriptionRow(app, subscription)).activated_at, 'the new url has answered');
  const sent = new Set([...guidsAt(before), ...guidsAt(now)]);
  for (const guid of [...old, ...fresh]) assert.ok(sent.has(guid));
  assert.deepEqual(new Set(await statesOf(subscription)), new Set(['completed']));
});

test('an equivalent url keeps the subscription as it is', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: `${endpoint.url}/a` });
  await dispatcher.drain();
  const url = `${endpoint.url}/b/../a`;
  const { body } = await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url });
  assert.deepEqual([body.url, body.state], [`${endpoint.url}/a`, 'active']);
});

test('deliveries that wait for the first 2xx do not count as late', async () => {
  const { tenant } = await createInactive();
  await publishEvents(app, tenant, 2);
  clock.advance(HOUR_MS);
  const { payload } = await idle.server.inject('/metrics');
  const late = Number(/^portico_oldest_waiting_seconds (\S+)/m.exec(payload)?.[1]);
  assert.equal(late, 0);
});
