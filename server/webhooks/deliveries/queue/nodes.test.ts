import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { lockWaits, whileHeld } from '../../../../testing/database/locks.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { founderOf } from '../../../../testing/webhooks/subscriptions.ts';
import { hold } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createNodes,
  deliveryOf,
  guidsAt,
  metricOf,
  pass,
  queueOf,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import type { Delivery } from '../delivery.ts';
import { START_LIMIT } from './lanes/limit.ts';

/** Several dispatchers on one database. */
/** Limit of requests in flight after one answer. */
const INITIAL_IN_FLIGHT = START_LIMIT + 1;

function assertOnceEach(guids: readonly string[], expected: readonly string[]): void {
  assert.deepEqual(guids.toSorted(), expected.toSorted());
}

test('two dispatchers share the work and never send the same delivery', async () => {
  const { a, b, createIdle, tenant, endpoint, subscription } = await createNodes();
  const idle = await createIdle();
  const events: string[] = [];
  // Created by a node that does not dispatch, so that both have to claim.
  for (let batch = 0; batch < 2; batch += 1) events.push(...(await publishEvents(idle, tenant, 1_000)));
  const start = hold();
  endpoint.behave(start);
  const byA = a.dispatcher.drain();
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  const byB = b.dispatcher.drain();
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT + START_LIMIT);
  endpoint.behave({ kind: 'answer' });
  start.release();
  await Promise.all([byA, byB]);
  await pass(2_000, [a, b]);
  assertOnceEach(guidsAt(endpoint).slice(1), events);
  assert.deepEqual(await queueOf(a, subscription), []);
  const completed = 'portico_deliveries_total{state="completed"}';
  const shares = [await metricOf(a, completed), await metricOf(b, completed)];
  assert.equal(
    shares.reduce((sum, share) => sum + share),
    events.length + 1,
  );
  assert.ok(
    shares.every((share) => share >= 100),
    `each did its part: ${shares}`,
  );
});

test('an event of a node without a dispatcher wakes the dispatchers before they poll', async () => {
  const { a, createIdle, tenant, endpoint } = await createNodes();
  const idle = await createIdle();
  const before = endpoint.received.length;
  const events = await publishEvents(idle, tenant, 1);
  // A woken dispatcher polls after 10 ms, an idle one after 1,000 ms, which do not pass here.
  let checks = 0;
  await until(() => {
    if (checks++ % 10 === 0) a.clock.advance(1);
    return endpoint.received.length > before;
  }, 'the delivery');
  assertOnceEach(guidsAt(endpoint).slice(before), events);
});

test('deliveries accepted by both nodes at the same time are sent once', async () => {
  const { a, b, tenant, endpoint } = await createNodes();
  const published = await Promise.all(
    [a, b, a, b].map(async (node) => {
      const guids = await publishEvents(node, tenant, 100);
      await node.dispatcher.drain();
      return guids;
    }),
  );
  await pass(2_000, [a, b]);
  const events = published.flat();
  assertOnceEach(
    guidsAt(endpoint).filter((guid) => events.includes(guid)),
    events,
  );
});

test('a stopping node finishes requests in flight, releases the rest and sends nothing more', async () => {
  const nodes = await createNodes();
  const { a, b, tenant, endpoint, subscription } = nodes;
  const slow = hold();
  endpoint.behave(slow);
  const events = await publishEvents(a, tenant, 60);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  assert.equal((await nodes.dispatchers()).length, 2);
  const stopping = a.dispatcher.stop();
  endpoint.behave({ kind: 'answer' });
  slow.release();
  await stopping;

  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT);
  const deliveries = await deliveriesOf(b, subscription);
  assert.equal(deliveries.filter(({ completed_at }) => completed_at !== null).length, 1 + INITIAL_IN_FLIGHT);
  const waiting = await queueOf(b, subscription);
  assert.equal(waiting.length, events.length - INITIAL_IN_FLIGHT);
  assert.ok(waiting.every(({ leased_by }) => leased_by === null));
  assert.equal((await nodes.dispatchers()).length, 1);

  const [late = ''] = await publishEvents(a, tenant);
  await a.dispatcher.drain();
  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT, 'nothing is sent after the stop');
  await b.dispatcher.drain();
  assertOnceEach(guidsAt(endpoint).slice(1), [...events, late]);
});

test('a stopping node records failures in flight, and other nodes retry them', async () => {
  const { a, b, tenant, endpoint, subscription } = await createNodes();
  const slow = hold();
  endpoint.behave(slow);
  const [event = ''] = await publishEvents(a, tenant);
  await endpoint.waitForCount(2);
  const stopping = a.dispatcher.stop();
  slow.release({ status: 503 });
  await stopping;
  const failing = await deliveryOf(b, subscription, event);
  assert.deepEqual([failing.attempt_count, failing.failure_kind], [1, 'rejected']);
  endpoint.behave({ kind: 'answer' });
  await pass(2_000, [b]);
  assert.equal((await deliveryOf(b, subscription, event)).attempt_count, 2);
});

test('a stopping node waits for a release in progress', async () => {
  const { a, b, tenant, subscription } = await createNodes();
  await founderOf(a, tenant)('PATCH', `/${subscription.guid}`, { paused: true });
  const [event = ''] = await publishEvents(a, tenant);
  const { guid } = await deliveryOf(a, subscription, event);
  const holder = a.dispatcher.holder() ?? '';
  const queued = { subscriptionGuid: subscription.guid, guid } as Delivery;
  await sql`update delivery_queue set leased_by = ${holder} where delivery_guid = ${guid}`.execute(
    b.database.queries,
  );
  let stopping = Promise.resolve();
  let isStopped = false;
  await whileHeld(
    b.database,
    (queries) => sql`select from delivery_queue where delivery_guid = ${guid} for update`.execute(queries),
    async () => {
      a.dispatcher.release([queued], holder);
      await until(async () => (await lockWaits(b.database.queries)) === 1, 'the release');
      stopping = a.dispatcher.stop().finally(() => {
        isStopped = true;
      });
      // Time for a stop that does not wait.
      for (let query = 0; query < 20; query += 1) await queueOf(b, subscription);
      assert.equal(isStopped, false);
    },
  );
  await stopping;
  assert.deepEqual(
    (await queueOf(b, subscription)).map(({ leased_by }) => leased_by),
    [null],
  );
});

test('a dispatcher whose row is deleted acquires a new lease and starts empty', async () => {
  const nodes = await createNodes();
  const { a, tenant, endpoint } = nodes;
  const names = (await nodes.dispatchers()).map(({ guid }) => guid);
  await a.database.queries.deleteFrom('dispatchers').execute();
  await pass(3_000, [a]);
  const events = await publishEvents(a, tenant, 5);
  await a.dispatcher.drain();
  assertOnceEach(guidsAt(endpoint).slice(1), events);
  assert.ok((await nodes.dispatchers()).every(({ guid }) => !names.includes(guid)));
});
