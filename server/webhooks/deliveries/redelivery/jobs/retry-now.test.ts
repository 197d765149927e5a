import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../../../testing/app/tenant.ts';
import { deliveriesOf, insertDeliveries } from '../../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../../testing/webhooks/test-endpoint.ts';
import {
  countConcurrency,
  createDispatchingApp,
  deliveryOf,
  guidsAt,
  queueOf,
} from '../../../../../testing/webhooks/webhooks.ts';
import { createRedeliveryJobs } from '../../testing/redelivery-jobs.ts';

/** A redelivery of waiting deliveries, sent by the dispatcher. */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const { recover, get, ago } = createRedeliveryJobs(app);
const MINUTE_MS = 60_000;

/** Claims follow in the poll after a step. */
async function drainTwice(): Promise<void> {
  await dispatcher.drain();
  await dispatcher.drain();
}

/** An endpoint with `count` deliveries whose next attempt is in some minutes. */
async function waitingFor(count: number) {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url, active: true });
  await drainTwice();
  const created_at = ago(MINUTE_MS);
  const dueAt = new Date(clock.now().getTime() + 5 * MINUTE_MS);
  const rows = Array.from({ length: count }, () => ({ created_at, dueAt, attempt_count: 4 }));
  const guids = await insertDeliveries(app, tenant, subscription, rows);
  clock.advance(1_000);
  return { tenant, endpoint, subscription, guids };
}

test('waiting deliveries are sent at once, each once, within the limit of the endpoint', async () => {
  const { tenant, endpoint, subscription } = await waitingFor(600);
  const concurrency = countConcurrency(endpoint);
  const before = endpoint.received.length;
  const job = await recover(tenant, subscription, { kind: 'waiting' });
  const at = clock.now();
  while ((await queueOf(app, subscription)).length > 0) await drainTwice();
  assert.deepEqual(clock.now(), at, 'no time has passed');
  assert.equal(endpoint.received.length - before, 600);
  assert.equal(new Set(guidsAt(endpoint)).size, endpoint.received.length);
  assert.ok(concurrency.most() <= 64, `${concurrency.most()} at once`);
  const { state, redelivered } = await get(tenant, job);
  assert.deepEqual([state, redelivered], ['completed', 600]);
});

test('an endpoint that still fails gets each delivery once more, and the schedule goes on', async () => {
  const { tenant, endpoint, subscription, guids } = await waitingFor(40);
  endpoint.behave({ kind: 'answer', status: 500 });
  const before = endpoint.received.length;
  await recover(tenant, subscription, { kind: 'waiting' });
  for (let step = 0; step < 60; step += 1) {
    await drainTwice();
    clock.advance(50);
  }
  await drainTwice();
  assert.equal(endpoint.received.length - before, 40);
  const rows = await deliveriesOf(app, subscription);
  for (const row of rows.filter(({ guid }) => guids.includes(guid))) assert.equal(row.attempt_count, 5);
  for (const { due_at: dueAt } of await queueOf(app, subscription))
    assert.ok(dueAt.getTime() - clock.now().getTime() > 8 * MINUTE_MS);
});

test('a Retry-After of the endpoint is honoured', async () => {
  const { tenant, endpoint, subscription } = await waitingFor(1);
  endpoint.behave({ kind: 'answer', status: 429, headers: { 'retry-after': '300' } });
  const [postponed = ''] = await publishEvents(app, tenant);
  await drainTwice();
  endpoint.behave({ kind: 'answer', status: 204 });
  clock.advance(1_000);
  const job = await recover(tenant, subscription, { kind: 'waiting' });
  await drainTwice();
  await drainTwice();
  const { done, redelivered } = await get(tenant, job);
  assert.deepEqual([done, redelivered], [2, 1]);
  assert.equal((await deliveryOf(app, subscription, postponed)).attempt_count, 1);
  clock.advance(5 * MINUTE_MS);
  await drainTwice();
  assert.notEqual((await deliveryOf(app, subscription, postponed)).completed_at, null);
});

test('a Retry-After that is over is honoured no longer', async () => {
  const { tenant, endpoint, subscription } = await waitingFor(1);
  endpoint.behave({ kind: 'answer', status: 429, headers: { 'retry-after': '1' } });
  const [postponed = ''] = await publishEvents(app, tenant);
  await drainTwice();
  clock.advance(1_500);
  endpoint.behave({ kind: 'answer', status: 204 });
  const job = await recover(tenant, subscription, { kind: 'waiting' });
  await drainTwice();
  await drainTwice();
  assert.equal((await get(tenant, job)).redelivered, 2);
  assert.notEqual((await deliveryOf(app, subscription, postponed)).completed_at, null);
});
