import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, metricOf } from '../../../../testing/webhooks/webhooks.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { countOutcomes, RESPONSE_TIME_BOUNDS_MS } from './counters.ts';

const app = await createDispatchingApp();
const { clock, dispatcher } = app;

const countersOf = (guid: string) =>
  app.database.queries
    .selectFrom('delivery_counters')
    .selectAll()
    .where('subscription_guid', '=', guid)
    .orderBy('minute')
    .execute();

/** A histogram with these counts by bucket. */
function histogram(counts: Record<number, number>): number[] {
  return Array.from({ length: RESPONSE_TIME_BOUNDS_MS.length + 1 }, (_, bucket) => counts[bucket] ?? 0);
}

test('counters hold successes, failed attempts and response times per minute', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: endpoint.url });
  await publishEvents(app, tenant, 4);
  await dispatcher.drain();
  clock.advance(30_000);
  await publishEvents(app, tenant, 2);
  await dispatcher.drain();
  endpoint.behave({ kind: 'answer', status: 500 });
  await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  const first = clock.now();

  clock.advance(30_000);
  endpoint.behave({ kind: 'answer' });
  await dispatcher.drain();
  const minutes = await countersOf(guid);
  assert.deepEqual(
    minutes.map(({ completed, failed_attempts, response_times }) => ({
      ...{ completed, failed_attempts, response_times },
    })),
    [
      { completed: 7, failed_attempts: 3, response_times: histogram({ 0: 7 }) },
      { completed: 3, failed_attempts: 0, response_times: histogram({ 0: 3 }) },
    ],
  );
  assert.equal(minutes[0]?.minute.getTime(), Math.floor(first.getTime() / 60_000) * 60_000);
  assert.equal(minutes[1]?.minute.getTime(), (minutes[0]?.minute.getTime() ?? 0) + 60_000);
});

test('a response time is counted in the bucket of its bound', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  for (const ms of [5, 6, 100, 2_000, 5_000, 9_000]) {
    const slow = hold();
    endpoint.behave(slow);
    const before = endpoint.received.length;
    await publishEvents(app, tenant);
    await endpoint.waitForCount(before + 1);
    clock.advance(ms);
    slow.release();
    await dispatcher.drain();
  }
  const totals = histogram({});
  for (const { response_times } of await countersOf(guid))
    response_times.forEach((count, bucket) => {
      totals[bucket] = (totals[bucket] ?? 0) + count;
    });
  assert.deepEqual(totals, histogram({ 0: 2, 1: 1, 4: 1, 8: 1, 9: 1, 10: 1 }));
});

test('metrics show outcomes, durations and an empty queue', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const completed = 'portico_deliveries_total{state="completed"}';
  const before = [await metricOf(app, completed), await metricOf(app, 'portico_delivery_seconds_count')];
  const sum = await metricOf(app, 'portico_delivery_seconds_sum');
  endpoint.behave({ kind: 'answer', status: 503 });
  await publishEvents(app, tenant);
  await dispatcher.drain();
  for (const ms of [2_000, 4_000]) {
    clock.advance(ms);
    await dispatcher.drain();
  }
  assert.equal(await metricOf(app, 'portico_deliveries_waiting'), 1);
  endpoint.behave({ kind: 'answer' });
  clock.advance(8_000);
  await dispatcher.drain();
  const now = [await metricOf(app, completed), await metricOf(app, 'portico_delivery_seconds_count')];
  assert.deepEqual(
    now.map((value, index) => value - (before[index] ?? 0)),
    [1, 1],
  );
  assert.equal((await metricOf(app, 'portico_delivery_seconds_sum')) - sum, 14, 'with its retries');
  clock.advance(6_000);
  assert.equal(await metricOf(app, 'portico_deliveries_waiting'), 0);
  assert.equal(await metricOf(app, 'portico_deliveries_held'), 0);
});

/** Unit tests of the counting. */
const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)];
const MINUTE = new Date('2026-11-15T12:34:00.000Z');

function outcomeOf({
  subscriptionGuid = ONE,
  attemptCount = 0,
  offsetMs = 0,
  ...fields
}: { subscriptionGuid?: string; attemptCount?: number; offsetMs?: number } & Partial<Outcome> = {}): Outcome {
  const endedAt = new Date(MINUTE.getTime() + offsetMs);
  return {
    delivery: { subscriptionGuid, attemptCount } as Delivery,
    url: 'https://partner.example/hook',
    ...{ result: 'completed', attemptedAt: endedAt, endedAt, durationMs: 1, status: 200, excerpt: '' },
    ...{ reason: undefined, nextAttemptAt: undefined, pausedUntil: undefined, ...fields },
  };
}

test('no outcomes give no counts', () => {
  assert.deepEqual(countOutcomes([]), []);
});

test('successes and failed attempts are counted per subscription', () => {
  const counts = countOutcomes([
    outcomeOf(),
    outcomeOf({ attemptCount: 2 }),
    outcomeOf({ result: 'rejected' }),
    outcomeOf({ subscriptionGuid: OTHER, result: 'timeout', durationMs: 7, nextAttemptAt: MINUTE }),
    outcomeOf(),
    outcomeOf({ result: 'unreachable', nextAttemptAt: MINUTE }),
  ]);
  const responseTimes = histogram({ 0: 3 });
  assert.deepEqual(counts, [
    {
      ...{ subscriptionGuid: ONE, minute: MINUTE, responseTimes },
      ...{ completed: 3, completedByRetry: 1, failedAttempts: 2, timeouts: 0, failed: 1 },
    },
    {
      ...{ subscriptionGuid: OTHER, minute: MINUTE, responseTimes: histogram({}) },
      ...{ completed: 0, completedByRetry: 0, failedAttempts: 1, timeouts: 1, failed: 0 },
    },
  ]);
});

test('the end of the attempt decides its minute', () => {
  const counts = countOutcomes([
    outcomeOf({ offsetMs: -1 }),
    outcomeOf({ offsetMs: 0 }),
    outcomeOf({ offsetMs: 59_999, attemptedAt: new Date(0) }),
    outcomeOf({ offsetMs: 60_000 }),
  ]);
  assert.deepEqual(
    counts.map(({ minute, completed }) => [minute.toISOString().slice(11, 16), completed]),
    [
      ['12:33', 1],
      ['12:34', 2],
      ['12:35', 1],
    ],
  );
});

test('bucket bounds are inclusive', () => {
  const bucketsOf = (durationMs: number) => countOutcomes([outcomeOf({ durationMs })])[0]?.responseTimes;
  for (const [index, bound] of RESPONSE_TIME_BOUNDS_MS.entries()) {
    assert.deepEqual(bucketsOf(bound), histogram({ [index]: 1 }), `${bound} ms`);
    assert.deepEqual(bucketsOf(bound + 1), histogram({ [index + 1]: 1 }), `${bound + 1} ms`);
  }
  assert.deepEqual(bucketsOf(0), histogram({ 0: 1 }));
});
