import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliveriesOf, insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { hold } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createNodes,
  deliveryOf,
  guidsAt,
  metricOf,
  pass,
  queueOf,
  showDelivery,
  subscriptionRow,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import type { Delivery } from '../delivery.ts';
import { START_LIMIT } from './lanes/limit.ts';

/** Takeover of the deliveries of a dispatcher that dies or pauses. */
/** Lease, renewal of the other dispatcher and its next poll. */
const TAKEN_OVER_MS = 15_000;
/** Limit of requests in flight after one answer. */
const INITIAL_IN_FLIGHT = START_LIMIT + 1;

test('another node takes over only after the lease has expired', async () => {
  const nodes = await createNodes({ apart: true });
  const { a, b, tenant, endpoint, subscription } = nodes;
  const stuck = hold();
  endpoint.behave(stuck);
  const events = await publishEvents(a, tenant, 20);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  await pass(9_000, [b]);
  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT, 'the lease of A still counts');
  endpoint.behave({ kind: 'answer' });
  await pass(TAKEN_OVER_MS - 9_000, [b]);
  const completed = (await deliveriesOf(b, subscription)).filter(({ completed_at }) => completed_at !== null);
  assert.equal(completed.length, 21);
  assert.deepEqual(await queueOf(b, subscription), []);
  const counts = Map.groupBy(guidsAt(endpoint), (guid) => guid);
  const twice = events.filter((guid) => (counts.get(guid)?.length ?? 0) > 1);
  assert.equal(twice.length, INITIAL_IN_FLIGHT, 'only requests in flight are sent twice');
  assert.equal((await nodes.dispatchers()).length, 1);
  stuck.release();
});

test('a node that lost its lease does not record failures of taken-over deliveries', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes({ apart: true });
  const stuck = hold();
  endpoint.behave(stuck);
  const [event = ''] = await publishEvents(a, tenant);
  await endpoint.waitForCount(2);
  endpoint.behave({ kind: 'answer' });
  await pass(TAKEN_OVER_MS, [b]);
  assert.notEqual((await deliveryOf(b, subscription, event)).completed_at, null);
  const before = await deliveryOf(b, subscription, event);
  stuck.release({ status: 500 });
  await pass(2_000, [a]);
  assert.deepEqual(await deliveryOf(b, subscription, event), before);
  assert.deepEqual(await queueOf(b, subscription), []);
});

test('deliveries whose lease was lost before their commit are released instead of sent', async () => {
  const { a, tenant, endpoint, subscription } = await createNodes();
  const [receiver] = await a.subscriptions.endpoints([subscription.guid]);
  assert.ok(receiver);
  const before = endpoint.received.length;
  const lost = 'f'.repeat(32);
  const dueAt = new Date(a.clock.now().getTime() + 3_600_000);
  const [guid = ''] = await insertDeliveries(a, tenant, subscription, [{ dueAt }]);
  const { queries } = a.database;
  const queued = () =>
    queries.selectFrom('delivery_queue').selectAll().where('delivery_guid', '=', guid).executeTakeFirst();
  await queries
    .updateTable('delivery_queue')
    .set({ leased_by: lost })
    .where('delivery_guid', '=', guid)
    .execute();
  assert.equal(a.dispatcher.reserve(receiver, 1), 1);
  const delivery = { guid, subscriptionGuid: subscription.guid, eventGuid: guid } as Delivery;
  a.dispatcher.accept({ ...receiver, leaseTerm: receiver.leaseTerm - 1 }, [delivery], lost);
  assert.equal(a.dispatcher.figures().held, 0);
  await until(async () => (await queued())?.leased_by === null, 'the release');
  assert.equal(endpoint.received.length, before);
});

test('deliveries that are committed after the stop of their dispatcher are released', async () => {
  const { a, tenant, subscription } = await createNodes();
  const [receiver] = await a.subscriptions.endpoints([subscription.guid]);
  assert.ok(receiver);
  const dueAt = new Date(a.clock.now().getTime() + 3_600_000);
  const [guid = ''] = await insertDeliveries(a, tenant, subscription, [{ dueAt }]);
  const holder = a.dispatcher.holder() ?? '';
  assert.equal(a.dispatcher.reserve(receiver, 1), 1);
  await a.dispatcher.stop();
  const { queries } = a.database;
  const row = { leased_by: holder };
  await queries.updateTable('delivery_queue').set(row).where('delivery_guid', '=', guid).execute();
  const delivery = { guid, subscriptionGuid: subscription.guid, eventGuid: guid } as Delivery;
  a.dispatcher.accept(receiver, [delivery], holder);
  await until(async () => (await queueOf(a, subscription))[0]?.leased_by === null, 'the release');
  assert.equal(a.dispatcher.figures().held, 0);
});

test('a late failure does not release a delivery that another node is sending', async () => {
  const { a, b, tenant, endpoint, subscription, dispatchers } = await createNodes({ apart: true });
  const [atA, atB] = [hold(), hold()];
  endpoint.behave(atA);
  const [event = ''] = await publishEvents(a, tenant);
  await endpoint.waitForCount(2);
  endpoint.behave(atB);
  await until(async () => {
    if (endpoint.received.length === 3) return true;
    b.clock.advance(250);
    await b.dispatcher.poll();
    return false;
  }, 'the take-over');
  atA.release({ status: 500 });
  await a.dispatcher.drain();
  const [survivor] = (await dispatchers()).toSorted(
    (x, y) => y.lease_until.getTime() - x.lease_until.getTime(),
  );
  const [queued] = await queueOf(b, subscription);
  assert.ok(queued && survivor);
  assert.equal(queued.leased_by, survivor.guid, 'still leased by B');
  assert.equal((await deliveryOf(b, subscription, event)).attempt_count, 0);
  atB.release();
  await b.dispatcher.drain();
  const { completed_at, attempt_count } = await deliveryOf(b, subscription, event);
  assert.deepEqual([completed_at, attempt_count], [b.clock.now(), 1]);
});

test('a late failure does not mark an endpoint as failing that answered the other node', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes({ apart: true });
  const stuck = hold();
  endpoint.behave(stuck);
  const [event = ''] = await publishEvents(a, tenant);
  await endpoint.waitForCount(2);
  endpoint.behave({ kind: 'answer' });
  await pass(TAKEN_OVER_MS, [b]);
  stuck.release({ status: 500 });
  await pass(2_000, [a]);
  const { guid } = await deliveryOf(b, subscription, event);
  const { state, attempt_count, attempts } = await showDelivery(b, tenant, guid);
  assert.deepEqual([state, attempt_count], ['completed', 1]);
  // Without a pending delivery no success would clear it, and the subscription would fail in a week.
  assert.equal((await subscriptionRow(b, subscription)).deliveries_failing_since, null);
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ['completed'],
  );
});

test('a late success counts, even if the other node failed', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes({ apart: true });
  const stuck = hold();
  endpoint.behave(stuck);
  const [event = ''] = await publishEvents(a, tenant);
  await endpoint.waitForCount(2);
  endpoint.behave({ kind: 'answer', status: 500 });
  await pass(TAKEN_OVER_MS, [b]);
  const failing = await deliveryOf(b, subscription, event);
  assert.equal(failing.failure_kind, 'rejected');
  assert.equal(failing.completed_at, null);
  stuck.release();
  await a.dispatcher.drain();
  const { completed_at, failure_kind } = await deliveryOf(b, subscription, event);
  assert.notEqual(completed_at, null);
  assert.equal(failure_kind, null);
  assert.deepEqual(await queueOf(b, subscription), []);
  const sent = endpoint.received.length;
  await pass(30_000, [b]);
  assert.equal(endpoint.received.length, sent, 'nothing is tried again');
});

test('a node that resumes after its lease expired does not send taken-over deliveries', async () => {
  const { a, b, createIdle, tenant, endpoint } = await createNodes({ apart: true });
  const idle = await createIdle();
  const stuck = hold();
  endpoint.behave(stuck);
  await publishEvents(a, tenant, 100);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  endpoint.behave({ kind: 'answer' });
  await pass(TAKEN_OVER_MS, [b]);
  assert.equal(new Set(guidsAt(endpoint)).size, 101, 'B has sent everything');
  const before = endpoint.received.length;
  // Simulates a paused process: answers arrive before it learns that its lease is lost.
  await idle.database.transaction(async (transaction) => {
    await sql`lock table dispatchers in exclusive mode`.execute(transaction);
    a.clock.advance(9_900);
    stuck.release();
    await until(async () => (await metricOf(a, 'portico_deliveries_in_flight')) === 0);
  });
  await a.dispatcher.drain();
  assert.equal(endpoint.received.length, before);
});
