import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../testing/app/tenant.ts';
import { insertDeliveries } from '../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import {
  countConcurrency,
  createDispatchingApp,
  deliveryOf,
  eventIn,
  guidsAt,
  pass,
  queueOf,
  subscriptionRow,
} from '../../../testing/webhooks/webhooks.ts';

/** When a failing endpoint answers 2xx, its waiting deliveries are sent at once (contract, section 7). */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;

/** A failing endpoint with `count` deliveries due in some minutes. */
async function failingWith(count: number, { active = false } = {}) {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'answer', status: 500 });
  const subscription = await createSubscription(app, tenant, { url: endpoint.url, active });
  await dispatcher.drain();
  const failedAt = clock.now();
  clock.advance(1_000);
  // A walk during which the clock jumps counts as long and is followed by a long pause.
  await dispatcher.drain();
  const waiting = Array.from({ length: count }, (_, index) => ({
    attempt_count: 4,
    failing_since: failedAt,
    created_at: failedAt,
    dueAt: new Date(clock.now().getTime() + 300_000 + index * 1_000),
  }));
  const guids = count === 0 ? [] : await insertDeliveries(app, tenant, subscription, waiting);
  return { tenant, endpoint, subscription, guids, failedAt };
}

/** The recovery takes effect in the poll after the success is recorded. */
async function drainTwice(): Promise<void> {
  await dispatcher.drain();
  await dispatcher.drain();
}

test('the first failure sets deliveries_failing_since, later ones leave it, a success clears it', async () => {
  const { endpoint, subscription, failedAt } = await failingWith(0);
  const failing = await subscriptionRow(app, subscription);
  assert.deepEqual(failing.deliveries_failing_since, failedAt);
  assert.equal(failing.activated_at, null);
  clock.advance(1_000);
  await dispatcher.drain();
  assert.deepEqual((await subscriptionRow(app, subscription)).deliveries_failing_since, failedAt);
  endpoint.behave({ kind: 'answer' });
  clock.advance(4_000);
  await dispatcher.drain();
  const answering = await subscriptionRow(app, subscription);
  assert.equal(answering.deliveries_failing_since, null);
  assert.deepEqual(answering.activated_at, clock.now());
});

test('one 2xx sends all 300 waiting deliveries at once, within the limit', async () => {
  const { endpoint, subscription, guids } = await failingWith(300);
  const concurrency = countConcurrency(endpoint);
  const before = endpoint.received.length;
  clock.advance(1_000);
  const recoveredAt = clock.now();
  await drainTwice();
  assert.equal(endpoint.received.length - before, guids.length + 1);
  assert.equal(new Set(guidsAt(endpoint)).size, guids.length + 1);
  assert.deepEqual(await queueOf(app, subscription), []);
  assert.deepEqual(clock.now(), recoveredAt);
  // The limit grows by one for each success.
  assert.ok(concurrency.most() > 1 && concurrency.most() <= 64, `${concurrency.most()} at once`);
  const { activated_at, recovered_at } = await subscriptionRow(app, subscription);
  assert.deepEqual([activated_at, recovered_at], [recoveredAt, recoveredAt]);
});

test('a success of a new event sends the waiting deliveries, too', async () => {
  const { tenant, endpoint, subscription } = await failingWith(20, { active: true });
  endpoint.behave({ kind: 'answer' });
  await publishEvents(app, tenant);
  await drainTwice();
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('deliveries that another dispatcher releases after the recovery are sent at once, too', async () => {
  const { tenant, endpoint, subscription, failedAt } = await failingWith(3);
  endpoint.behave({ kind: 'answer' });
  clock.advance(1_000);
  await drainTwice();
  assert.deepEqual(await queueOf(app, subscription), []);
  const dueAt = new Date(clock.now().getTime() + 300_000);
  const released = { attempt_count: 4, failing_since: failedAt, created_at: failedAt, dueAt };
  await insertDeliveries(app, tenant, subscription, [released]);
  await drainTwice();
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('after a recovery the limit starts at one and grows with each success', async () => {
  const { endpoint } = await failingWith(100);
  for (const seconds of [1, 4, 8]) {
    clock.advance(seconds * 1_000);
    await dispatcher.drain();
  }
  const { seen } = countConcurrency(endpoint);
  clock.advance(660_000);
  await drainTwice();
  assert.ok(seen.length > 100);
  for (const { open, answered } of seen) assert.ok(open <= 1 + answered, `${open} after ${answered} answers`);
});

test('an endpoint that keeps failing gets no early retries', async () => {
  const { endpoint, subscription, guids } = await failingWith(50);
  const before = endpoint.received.length;
  clock.advance(1_000);
  await drainTwice();
  assert.equal(endpoint.received.length, before + 1, 'only the one that was due');
  assert.equal((await queueOf(app, subscription)).length, guids.length + 1);
});

test('an endpoint that fails again at once gets no further early retries', async () => {
  const { endpoint, subscription, guids } = await failingWith(200);
  let answered = 0;
  endpoint.behave(() => {
    answered += 1;
    return { kind: 'answer', status: answered === 1 ? 204 : 500 };
  });
  clock.advance(1_000);
  await drainTwice();
  for (let step = 0; step < 20; step += 1) {
    clock.advance(50);
    await drainTwice();
  }
  const held = 256;
  assert.ok(answered <= 1 + held, `${answered} requests`);
  const tried = (await queueOf(app, subscription)).filter(({ scheduled_at }) => scheduled_at >= clock.now());
  assert.ok(tried.every(({ due_at }) => due_at.getTime() - clock.now().getTime() > 500_000));
  const counts = Map.groupBy(guidsAt(endpoint), (guid) => guid);
  for (const [, times] of counts) assert.ok(times.length <= 3, 'nothing is sent over and over');
  assert.equal((await queueOf(app, subscription)).length, guids.length);
  assert.notEqual((await subscriptionRow(app, subscription)).deliveries_failing_since, null);
});

test('a delivery that fails again after a recovery is not retried early again', async () => {
  const { endpoint, subscription, guids } = await failingWith(100);
  const poisoned = guids[50] ?? assert.fail();
  const { event_guid } = await app.database.queries
    .selectFrom('deliveries')
    .select('event_guid')
    .where('guid', '=', poisoned)
    .executeTakeFirstOrThrow();
  const isPoisoned = (body: Buffer) => eventIn({ body }).guid === event_guid;
  endpoint.behave((_, { body }) => ({ kind: 'answer', status: isPoisoned(body) ? 500 : 204 }));
  clock.advance(1_000);
  for (let round = 0; round < 5; round += 1) await dispatcher.drain();
  assert.equal(endpoint.received.filter(({ body }) => isPoisoned(body)).length, 1);
  const [left, ...more] = await queueOf(app, subscription);
  assert.equal(more.length, 0);
  assert.equal(left?.delivery_guid, poisoned);
  const delayMs = left.due_at.getTime() - clock.now().getTime();
  assert.ok(delayMs >= 540_000 && delayMs <= 660_000, `again in ${delayMs} ms, as after any fifth attempt`);
});

test('a rejected event is not retried with each success of another', async () => {
  const { tenant, endpoint, subscription } = await failingWith(0);
  endpoint.behave({ kind: 'answer' });
  clock.advance(1_000);
  await drainTwice();
  const [poisoned = ''] = await publishEvents(app, tenant, [{ event_type: 'trade.failed' }]);
  endpoint.behave((_, request) => ({
    kind: 'answer',
    status: eventIn(request).guid === poisoned ? 500 : 204,
  }));
  await drainTwice();
  for (let event = 0; event < 20; event += 1) {
    clock.advance(50);
    await publishEvents(app, tenant);
    await drainTwice();
  }
  const { attempt_count } = await deliveryOf(app, subscription, poisoned);
  assert.ok(attempt_count <= 2, `${attempt_count} attempts in the first second`);
});

test('Retry-After is honoured even if other deliveries succeed', async () => {
  const { tenant, endpoint, subscription } = await failingWith(0);
  endpoint.behave({ kind: 'answer' });
  clock.advance(1_000);
  await drainTwice();
  endpoint.behave({ kind: 'answer', status: 429, headers: { 'retry-after': '60' } });
  const [paused = ''] = await publishEvents(app, tenant);
  await drainTwice();
  endpoint.behave({ kind: 'answer' });
  clock.advance(1_000);
  await publishEvents(app, tenant);
  await drainTwice();
  assert.equal((await deliveryOf(app, subscription, paused)).attempt_count, 1, 'not ahead of its time');
  clock.advance(59_000);
  await drainTwice();
  assert.notEqual((await deliveryOf(app, subscription, paused)).completed_at, null);
});

test('a Retry-After that is over does not keep a delivery from an early retry', async () => {
  const { tenant, endpoint, subscription } = await failingWith(0, { active: true });
  endpoint.behave({ kind: 'answer', status: 503, headers: { 'retry-after': '5' } });
  const [waiting = ''] = await publishEvents(app, tenant);
  await pass(40_000, [app]);
  assert.equal((await deliveryOf(app, subscription, waiting)).attempt_count, 4, 'the next is in ten minutes');
  endpoint.behave({ kind: 'answer' });
  await publishEvents(app, tenant);
  await pass(2_000, [app]);
  assert.notEqual((await deliveryOf(app, subscription, waiting)).completed_at, null);
});
