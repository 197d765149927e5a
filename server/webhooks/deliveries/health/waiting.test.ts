import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, userToken } from '../../../../testing/app/tenant.ts';
import { guidOf, insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../../testing/webhooks/webhooks.ts';
import type { Statistics } from '../statistics/statistics-schema.ts';
import { MAX_COUNTED_WAITING } from './waiting.ts';

/** How many deliveries wait for an endpoint, and since when. */
const app = await createDispatchingApp();
const { clock, dispatcher, statistics } = app;
const { queries } = app.database;
const MINUTE_MS = 60_000;

async function createEndpoint() {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const waiting = async () => {
    const found = (await statistics.waiting(tenant.organizationGuid)).get(subscription.guid);
    assert.ok(found);
    return found;
  };
  return { tenant, endpoint, subscription, waiting };
}

test('nothing waits for an endpoint that has answered', async () => {
  const { waiting } = await createEndpoint();
  assert.deepEqual(await waiting(), { count: 0, lateCount: 0, oldestAt: undefined });
});

for (const [name, count] of [
  ['queue rows', 3],
  ['a batch', 40],
] as const)
  test(`deliveries that were never tried wait, in ${name}, until the endpoint answers`, async () => {
    const { tenant, endpoint, waiting } = await createEndpoint();
    const hanging = hold();
    endpoint.behave(hanging);
    const createdAt = clock.now();
    await publishEvents(app, tenant, count);
    await endpoint.waitForCount(2);
    assert.deepEqual(await waiting(), { count, lateCount: 0, oldestAt: createdAt });
    endpoint.behave({ kind: 'answer' });
    hanging.release();
    await dispatcher.drain();
    assert.equal((await waiting()).count, 0);
  });

test('a failed attempt of a batched delivery does not count it twice', async () => {
  const { tenant, endpoint, waiting } = await createEndpoint();
  endpoint.behave({ kind: 'answer', status: 500 });
  const createdAt = clock.now();
  await publishEvents(app, tenant, 40);
  await dispatcher.drain();
  assert.deepEqual(await waiting(), { count: 40, lateCount: 0, oldestAt: createdAt });
});

test('deliveries that have ended do not wait, leased and retried ones do; older ones are late', async () => {
  const { tenant, subscription, waiting } = await createEndpoint();
  const created_at = new Date(clock.now().getTime() - 5 * MINUTE_MS);
  const dueAt = new Date(clock.now().getTime() + MINUTE_MS);
  const [leased = ''] = await insertDeliveries(app, tenant, subscription, [
    { created_at, dueAt },
    { created_at, dueAt, attempt_count: 3, failing_since: created_at },
    { dueAt },
    { created_at, ended: 'completed' },
    { created_at, ended: 'failed' },
  ]);
  await queries
    .updateTable('delivery_queue')
    .set({ leased_by: guidOf(clock.now()) })
    .where('delivery_guid', '=', leased)
    .execute();
  assert.deepEqual(await waiting(), { count: 3, lateCount: 2, oldestAt: created_at });
});

test('the unrecorded deliveries of a batch are counted', async () => {
  const { tenant, subscription, waiting } = await createEndpoint();
  const guids = await insertDeliveries(app, tenant, subscription, [
    { ended: 'completed' },
    { ended: 'failed' },
    { attempt_count: 1 },
    {},
    {},
  ]);
  await queries.deleteFrom('delivery_queue').where('delivery_guid', 'in', guids.slice(3)).execute();
  await queries
    .insertInto('delivery_batches')
    .values({
      ...{ guid: guidOf(clock.now()), subscription_guid: subscription.guid, leased_by: guidOf(clock.now()) },
      ...{ created_at: clock.now(), delivery_guids: guids },
    })
    .execute();
  assert.equal((await waiting()).count, 3);
});

test('the count stops at its limit and says so; every role reads it', async () => {
  const { tenant, subscription } = await createEndpoint();
  const at = clock.now();
  for (let left = MAX_COUNTED_WAITING + 1; left > 0; left -= 1_000)
    await queries
      .insertInto('delivery_queue')
      .values(
        Array.from({ length: Math.min(left, 1_000) }, () => ({
          ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(at), leased_by: null },
          ...{ due_at: new Date(at.getTime() + MINUTE_MS), scheduled_at: at },
        })),
      )
      .execute();
  for (const role of ['founder', 'viewer'] as const) {
    const token = await userToken(app, tenant.organizationGuid, role);
    const { status, body } = await app.call({ url: '/api/delivery_statistics', token });
    assert.equal(status, 200);
    const { totals, subscriptions } = body as unknown as Statistics;
    for (const shown of [totals, ...subscriptions])
      assert.deepEqual(
        [shown.waiting, shown.waiting_is_minimum, shown.oldest_waiting_at],
        [MAX_COUNTED_WAITING, true, at.toISOString()],
      );
  }
});
