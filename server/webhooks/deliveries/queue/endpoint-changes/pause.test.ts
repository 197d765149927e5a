import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { sql } from 'kysely';
import { assertError } from '../../../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../../../testing/database/database.ts';
import { deliveriesOf } from '../../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf, setMoments } from '../../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  createNodes,
  deliveryOf,
  guidsAt,
  metricOf,
  pass,
  queueOf,
  showDelivery,
  subscriptionRow,
} from '../../../../../testing/webhooks/webhooks.ts';
import { createEnqueue } from '../enqueue.ts';

/** Pauses by the partner (contract, section 7). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const DAY_MS = 24 * 3_600_000;

async function createPaused({ paused = true } = {}) {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const change = (changes: object) => founderOf(app, tenant)('PATCH', `/${subscription.guid}`, changes);
  if (paused) assert.equal((await change({ paused: true })).status, 200);
  return { tenant, endpoint, subscription, change };
}

test('while paused deliveries wait, without attempts; resuming sends each once', async () => {
  const { tenant, endpoint, subscription, change } = await createPaused();
  const at = clock.now().toISOString();
  const shown = await founderOf(app, tenant)('GET', `/${subscription.guid}`);
  assert.deepEqual([shown.body.state, shown.body.paused_at], ['active', at]);
  const events = await publishEvents(app, tenant, 40);
  await pass(60_000, [app], 10_000);
  assert.equal(endpoint.received.length, 1);
  const waiting = await showDelivery(
    app,
    tenant,
    (await deliveryOf(app, subscription, events[0] ?? '')).guid,
  );
  assert.deepEqual(
    [waiting.state, waiting.attempt_count, waiting.next_attempt_at],
    ['storing', 0, undefined],
  );
  assert.equal(await metricOf(app, 'portico_oldest_waiting_seconds'), 0, 'a pause is not late');
  assert.equal((await change({ paused: true })).body.paused_at, at, 'pausing again changes nothing');
  const resumed = await change({ paused: false });
  assert.ok(!('paused_at' in resumed.body));
  await pass(2_000, [app]);
  assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('no node sends once the pause is answered; outcomes in flight are recorded', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes();
  const stuck = hold();
  endpoint.behave(stuck);
  await publishEvents(a, tenant, 30);
  await publishEvents(b, tenant, 30);
  await endpoint.waitForCount(1 + 3 + 2);
  const change = (changes: object) => founderOf(a, tenant)('PATCH', `/${subscription.guid}`, changes);
  assert.equal((await change({ paused: true })).status, 200);
  const before = endpoint.received.length;
  endpoint.behave({ kind: 'answer' });
  stuck.release();
  await pass(5_000, [a, b]);
  assert.equal(endpoint.received.length, before);
  const completed = (await deliveriesOf(a, subscription)).filter(({ completed_at }) => completed_at !== null);
  assert.equal(completed.length, before);
  assert.ok((await queueOf(a, subscription)).every(({ leased_by }) => leased_by === null));
  await change({ paused: false });
  await pass(3_000, [a, b]);
  assert.equal(new Set(guidsAt(endpoint)).size, 61);
});

/** Seed 465 of the simulation: no notice reaches a dispatcher whose lease has expired. */
test('an endpoint that was read before the loss of a lease gets nothing after its pause', async () => {
  const { a, b, tenant, endpoint, subscription, dispatchers } = await createNodes({ apart: true });
  const change = (changes: object) => founderOf(a, tenant)('PATCH', `/${subscription.guid}`, changes);
  const { database, clock, guids, subscriptions, dispatcher } = b;
  const createdAsFailed = { note: () => undefined };
  const { enqueue } = createEnqueue({ database, clock, guids, subscriptions, dispatcher, createdAsFailed });
  const { organizationGuid: organization_guid, bankGuid: bank_guid } = tenant;
  const event = { guid: guids.next(), event_type: 'transfer.completed', object_guid: guids.next() };
  await database.transaction(async (transaction) => {
    const receivers = await subscriptions.endpointsOf(transaction, [organization_guid]);
    // In few steps: the transaction is idle meanwhile, which the database ends after 15 seconds of real time.
    await pass(15_000, [a], 5_000);
    assert.equal((await dispatchers()).length, 1, 'A has taken over');
    assert.equal((await change({ paused: true })).status, 200);
    await pass(15_000, [b], 5_000);
    assert.equal((await dispatchers()).length, 2, 'B has a new lease');
    const events = [{ ...event, organization_guid, bank_guid, environment: 'sandbox' as const }];
    await enqueue(transaction, events, receivers);
  });
  await pass(3_000, [a, b]);
  assert.equal(endpoint.received.length, 1, 'only its first event');
  const queued = await queueOf(a, subscription);
  assert.deepEqual([queued.length, queued[0]?.leased_by], [1, null]);
});

/** Seed 5 of the simulation: the pause was answered although no other node knew of it. */
test('a pause is announced again when the connection breaks after its commit', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes();
  const owner = queriesOfOwner(a.testDatabase);
  await sql`create sequence announcements`.execute(owner);
  await sql`grant usage on sequence announcements to public`.execute(owner);
  await sql`create function break_once() returns trigger language plpgsql as ${sql.lit(
    `begin
       if nextval('announcements') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); end if;
       return null;
     end`,
  )}`.execute(owner);
  await sql`create trigger break_once after insert on endpoint_notices
    for each statement execute function break_once()`.execute(owner);
  const stuck = hold();
  endpoint.behave(stuck);
  await publishEvents(b, tenant, 30);
  await endpoint.waitForCount(1 + 2);
  const paused = await founderOf(a, tenant)('PATCH', `/${subscription.guid}`, { paused: true });
  assert.equal(paused.status, 200);
  const { rows } = await sql<{
    inserts: number;
  }>`select last_value::int as inserts from announcements`.execute(owner);
  assert.equal(rows[0]?.inserts, 2);
  const before = endpoint.received.length;
  endpoint.behave({ kind: 'answer' });
  stuck.release();
  await b.dispatcher.idle();
  assert.equal(endpoint.received.length, before);
});

test('no node sends once disabling by the operator is answered', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes();
  const stuck = hold();
  endpoint.behave(stuck);
  await publishEvents(a, tenant, 30);
  await publishEvents(b, tenant, 30);
  await endpoint.waitForCount(1 + 3 + 2);
  const disabled = await a.operate('PATCH', `/subscriptions/${subscription.guid}`, { disabled: true });
  assert.equal(disabled.status, 200, JSON.stringify(disabled.body));
  const before = endpoint.received.length;
  endpoint.behave({ kind: 'answer' });
  stuck.release();
  await pass(5_000, [a, b]);
  assert.equal(endpoint.received.length, before);
});

test('retries that are not due yet are sent at once after the pause, which does not count as failing', async () => {
  const { tenant, endpoint, subscription, change } = await createPaused({ paused: false });
  endpoint.behave({ kind: 'answer', status: 500 });
  const [event = ''] = await publishEvents(app, tenant);
  await pass(15_000, [app]);
  assert.ok((await subscriptionRow(app, subscription)).deliveries_failing_since);
  await change({ paused: true });
  await setMoments(app, subscription.guid, {
    deliveries_failing_since: new Date(clock.now().getTime() - 8 * DAY_MS),
  });
  assert.equal(await app.subscriptions.sweepFailed(), 0, 'a paused subscription does not fail');
  endpoint.behave({ kind: 'answer' });
  const attempts = endpoint.received.length;
  clock.advance(1);
  const { body } = await change({ paused: false });
  assert.deepEqual([body.state, body.deliveries_failing_since], ['active', undefined]);
  await pass(1_000, [app]);
  assert.equal(endpoint.received.length, attempts + 1);
  assert.ok((await deliveryOf(app, subscription, event)).completed_at);
});

test('a delivery that waits for seven days in a pause fails, younger ones stay', async () => {
  const { tenant, endpoint, subscription, change } = await createPaused();
  await publishEvents(app, tenant, 3);
  clock.advance(DAY_MS);
  const [young = ''] = await publishEvents(app, tenant);
  clock.advance(6 * DAY_MS - 1);
  await app.clusterTasks.runOnce();
  assert.equal((await queueOf(app, subscription)).length, 4);
  clock.advance(2);
  await app.clusterTasks.runOnce();
  assert.equal((await queueOf(app, subscription)).length, 1);
  const failed = (await deliveriesOf(app, subscription)).filter(({ failed_at }) => failed_at !== null);
  assert.equal(failed.length, 3);
  await dispatcher.drain();
  await change({ paused: false });
  await pass(2_000, [app]);
  assert.deepEqual(guidsAt(endpoint).slice(1), [young]);
});

test('a delivery of a subscription that is resumed before the sweep reaches it does not fail', async () => {
  const { tenant, subscription } = await createPaused();
  await publishEvents(app, tenant, 3);
  clock.advance(7 * DAY_MS + 1);
  const { holdingAfter } = app.subscriptions;
  const reading = mock.method(
    app.subscriptions,
    'holdingAfter',
    async (...page: Parameters<typeof holdingAfter>) => {
      const found = await holdingAfter(...page);
      await setMoments(app, subscription.guid, { paused_at: null });
      return found;
    },
  );
  await app.clusterTasks.runOnce();
  reading.mock.restore();
  assert.ok(reading.mock.callCount() > 0);
  const failed = (await deliveriesOf(app, subscription)).filter(({ failed_at }) => failed_at !== null);
  assert.deepEqual(failed, []);
});

test('a test event is refused while paused; a redelivery waits', async () => {
  const { tenant, endpoint, subscription, change } = await createPaused();
  const token = await userToken(app, tenant.organizationGuid);
  const call = (url: string, payload?: object) =>
    app.call({ method: 'POST', url, token, ...(payload ? { payload } : {}) });
  assertError(
    await call(`/api/subscriptions/${subscription.guid}/test_event`),
    ...([409, 'state_conflict', /resume it/] as const),
  );
  const answer = await call('/api/subscription_deliveries', {
    ...{ subscription_event_guid: guidsAt(endpoint)[0], subscription_guid: subscription.guid },
  });
  assert.deepEqual([answer.status, answer.body.next_attempt_at], [201, undefined]);
  await pass(2_000, [app]);
  assert.equal(endpoint.received.length, 1);
  await change({ paused: false });
  await pass(2_000, [app]);
  assert.equal(endpoint.received.length, 2);
});

test('a deleting subscription cannot be paused, but a paused one can be deleted and resumed', async () => {
  const { tenant, endpoint, subscription, change } = await createPaused();
  await publishEvents(app, tenant);
  await founderOf(app, tenant)('DELETE', `/${subscription.guid}`);
  assert.equal((await change({ paused: false })).status, 200);
  await pass(2_000, [app]);
  assert.equal(endpoint.received.length, 3, 'the event and subscription.deleting');
  assertError(await change({ paused: true }), 409, 'state_conflict', /^paused of a deleting subscription/);
});

test('a dispatcher claims nothing for a paused subscription', async () => {
  const { tenant, subscription } = await createPaused();
  await publishEvents(app, tenant, 5);
  assert.equal(await dispatcher.poll(), false);
  assert.equal(dispatcher.figures().held, 0);
  const queue = await queueOf(app, subscription);
  assert.equal(queue.filter(({ leased_by }) => leased_by === null).length, 5);
});
