import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KyselyPlugin, RawNode } from 'kysely';
import { assertError, type TestApp } from '../../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { countDeliveries, countEvents } from '../../../../testing/webhooks/counters.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../../testing/webhooks/webhooks.ts';
import { selectStepCounts } from './statistics-store.ts';

/** GET /api/delivery_statistics */
const app: TestApp = await createDispatchingApp();
const { clock, dispatcher } = app;
const { queries } = app.database;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Counts = {
  completed: number;
  failed_attempts: number;
  success_rate?: number;
  p50_ms?: number;
  p99_ms?: number;
  due?: number;
  delivered_rate?: number;
  completed_first_attempt?: number;
  failed?: number;
  timeouts?: number;
  waiting?: number;
  waiting_is_minimum?: boolean;
  oldest_waiting_at?: string;
};
type Point = { at: string; completed: number; failed_attempts: number; events: number };
type Statistics = {
  range: string;
  step_seconds: number;
  totals: Counts & { events: number };
  subscriptions: (Counts & { subscription_guid: string })[];
  points: Point[];
};

async function ask(token: string, query = ''): Promise<Statistics> {
  const { status, body } = await app.call({ url: `/api/delivery_statistics${query}`, token });
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Statistics;
}

async function createOwner(options?: Parameters<typeof createTenant>[1]) {
  const tenant = await createTenant(app, options);
  return { tenant, token: await userToken(app, tenant.organizationGuid) };
}

const count = (guid: string, agoMs: number, counts: Parameters<typeof countDeliveries>[3]) =>
  countDeliveries(app, guid, agoMs, counts);

/** Counts of deliveries and waiting ones have their own tests, in `health/`. */
const counted = <Shown extends Counts>({
  waiting,
  waiting_is_minimum,
  oldest_waiting_at,
  due,
  delivered_rate,
  failed,
  timeouts,
  completed_first_attempt,
  ...rest
}: Shown) => rest;

const withCounts = (points: readonly Point[]) =>
  points.filter(({ completed, failed_attempts, events }) => completed + failed_attempts + events > 0);

test('deliveries, attempts and events are counted in their minute', async () => {
  const { tenant } = await createOwner();
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  clock.advance(2 * HOUR_MS);
  clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const at = clock.now().toISOString();
  const fresh = await userToken(app, tenant.organizationGuid);
  // One after the other: an endpoint whose last answer is a failure gets early retries after its next success.
  for (const status of [500, 204]) {
    endpoint.behave({ kind: 'answer', status });
    await publishEvents(app, tenant, 2);
    await dispatcher.drain();
  }
  const held = hold();
  endpoint.behave(held);
  const before = endpoint.received.length;
  await publishEvents(app, tenant, 1);
  await endpoint.waitForCount(before + 1);
  clock.advance(200);
  held.release();
  await dispatcher.drain();
  await app.eventCounters.flush();
  const { totals, subscriptions, points } = await ask(fresh);
  const { p50_ms, p99_ms, ...rest } = counted(totals);
  assert.deepEqual(rest, { completed: 3, failed_attempts: 2, events: 5, success_rate: 0.6 });
  assert.ok(p50_ms !== undefined && p50_ms <= 5 && p99_ms !== undefined && p99_ms > 100 && p99_ms <= 250);
  assert.deepEqual(subscriptions.map(counted), [
    { subscription_guid: guid, completed: 3, failed_attempts: 2, success_rate: 0.6, p50_ms, p99_ms },
  ]);
  assert.deepEqual(withCounts(points), [{ at, completed: 3, failed_attempts: 2, events: 5 }]);
});

for (const [range, stepSeconds, steps] of [
  ['1h', 60, 60],
  ['24h', 900, 96],
  ['7d', 7_200, 84],
] as const)
  test(`${range}: every step of ${stepSeconds} seconds is present, up to the current one`, async () => {
    const { tenant, token } = await createOwner();
    const { guid } = await createSubscription(app, tenant);
    const stepMs = stepSeconds * 1_000;
    const last = Math.floor(clock.now().getTime() / stepMs) * stepMs;
    const first = last - (steps - 1) * stepMs;
    const agoOf = (moment: number) => clock.now().getTime() - moment;
    await count(guid, agoOf(first), { completed: 2 });
    await count(guid, agoOf(first - MINUTE_MS), { completed: 100, failed: 100 });
    // The last minute of the first step.
    const hasMinutes = stepMs > MINUTE_MS;
    if (hasMinutes) await count(guid, agoOf(first + stepMs - MINUTE_MS), { completed: 3 });
    await count(guid, agoOf(first + stepMs), { failed: 5 });
    await count(guid, agoOf(last), { completed: 7, failed: 1 });
    const { points, ...answer } = await ask(token, `?range=${range}`);
    assert.deepEqual([answer.range, answer.step_seconds], [range, stepSeconds]);
    assert.deepEqual(
      points.map(({ at }) => at),
      Array.from({ length: steps }, (_, step) => new Date(first + step * stepMs).toISOString()),
    );
    const nonEmpty = points.filter(({ completed, failed_attempts }) => completed + failed_attempts > 0);
    assert.deepEqual(
      nonEmpty.map(({ at, completed, failed_attempts }) => [
        Date.parse(at) - first,
        completed,
        failed_attempts,
      ]),
      [
        [0, hasMinutes ? 5 : 2, 0],
        [stepMs, 0, 5],
        [last - first, 7, 1],
      ],
    );
    assert.deepEqual([answer.totals.completed, answer.totals.failed_attempts], [hasMinutes ? 12 : 9, 6]);
  });

test('range defaults to 1h, and an unknown range is refused', async () => {
  const { token } = await createOwner();
  assert.equal((await ask(token)).range, '1h');
  const answer = await app.call({ url: '/api/delivery_statistics?range=30d', token });
  assertError(answer, 400, 'invalid_parameter', /^range/);
});

test('without deliveries all counts are zero and rates are absent', async () => {
  const { tenant } = await createOwner();
  const quiet = await createSubscription(app, tenant);
  clock.advance(2 * HOUR_MS);
  const { totals, subscriptions, points } = await ask(await userToken(app, tenant.organizationGuid));
  assert.deepEqual(counted(totals), { completed: 0, failed_attempts: 0, events: 0 });
  assert.deepEqual(subscriptions.map(counted), [
    { subscription_guid: quiet.guid, completed: 0, failed_attempts: 0 },
  ]);
  assert.deepEqual([points.length, withCounts(points)], [60, []]);
});

test('failures alone have a success rate and no response times', async () => {
  const { tenant, token } = await createOwner();
  const { guid } = await createSubscription(app, tenant);
  await count(guid, 0, { failed: 3 });
  const [own] = (await ask(token)).subscriptions.map(counted);
  assert.deepEqual(own, { subscription_guid: guid, completed: 0, failed_attempts: 3, success_rate: 0 });
});

test('each subscription has its own counts, newest first, and points sum all of them', async () => {
  const { tenant, token } = await createOwner();
  const [one, two] = [await createSubscription(app, tenant), await createSubscription(app, tenant)];
  await count(one.guid, 0, { completed: 98, slow: 49 });
  await count(two.guid, 0, { completed: 1, failed: 3 });
  const { subscriptions, points, totals } = await ask(token);
  assert.deepEqual(
    subscriptions.map((each) => [each.subscription_guid, each.completed, each.success_rate, each.p99_ms]),
    [
      [two.guid, 1, 0.25, 5],
      [one.guid, 98, 1, 9_900],
    ],
  );
  assert.deepEqual([points.at(-1)?.completed, points.at(-1)?.failed_attempts], [99, 3]);
  assert.deepEqual([totals.completed, totals.failed_attempts, totals.p50_ms], [99, 3, 5]);
});

test('subscription_guid filters the deliveries, not the events', async () => {
  const { tenant, token } = await createOwner();
  const [one, two] = [await createSubscription(app, tenant), await createSubscription(app, tenant)];
  await count(one.guid, 0, { completed: 5 });
  await count(two.guid, 0, { completed: 7 });
  await countEvents(app, tenant, 'sandbox', 0, 6);
  const { subscriptions, totals } = await ask(token, `?subscription_guid=${one.guid}`);
  assert.deepEqual(
    subscriptions.map((each) => each.subscription_guid),
    [one.guid],
  );
  assert.deepEqual([totals.completed, totals.events], [5, 6]);
});

test('user tokens see both environments or the requested one; API keys see their own', async () => {
  const { tenant, token } = await createOwner();
  const sandbox = await createSubscription(app, tenant);
  const production = await createSubscription(app, tenant, { environment: 'production' });
  await count(sandbox.guid, 0, { completed: 1 });
  await count(production.guid, 0, { completed: 10 });
  await countEvents(app, tenant, 'sandbox', 0, 2);
  await countEvents(app, tenant, 'production', 0, 20);
  const scope = 'subscription_events:read';
  const key = await tokenOf(app, tenant.organizationKey, scope);
  const productionKey = await tokenOf(app, tenant.organizationKey, scope, { host: PRODUCTION_HOST });
  for (const [name, bearer, query, expected] of [
    ['both', token, '', [11, 22]],
    ['sandbox', token, '?environment=sandbox', [1, 2]],
    ['production', token, '?environment=production', [10, 20]],
    ['key of sandbox', key, '', [1, 2]],
    ['key of production', productionKey, '', [10, 20]],
    ['key asking for another', key, '?environment=production', [0, 0]],
    ['key asking for a subscription of another', key, `?subscription_guid=${production.guid}`, [0, 2]],
  ] as const) {
    const { totals } = await ask(bearer, query);
    assert.deepEqual([totals.completed, totals.events], expected, name);
  }
});

test('counts of another Organization are never included, even if its subscription is requested', async () => {
  const { tenant } = await createOwner();
  const { guid } = await createSubscription(app, tenant);
  await count(guid, 0, { completed: 5 });
  await countEvents(app, tenant, 'sandbox', 0, 5);
  const stranger = await createOwner();
  await queries
    .deleteFrom('event_counters')
    .where('organization_guid', '=', stranger.tenant.organizationGuid)
    .execute();
  for (const query of ['', `?subscription_guid=${guid}`]) {
    const { totals, subscriptions, points } = await ask(stranger.token, query);
    assert.deepEqual([totals.completed, subscriptions], [0, []]);
    assert.deepEqual(withCounts(points), []);
  }
});

test('a subscription deleted within the range is included, an earlier one is not', async () => {
  const { tenant, token } = await createOwner();
  const { guid } = await createSubscription(app, tenant);
  await count(guid, 30 * MINUTE_MS, { completed: 5 });
  const deleteAt = (deleted_at: Date) =>
    queries.updateTable('subscriptions').set({ deleted_at }).where('guid', '=', guid).execute();
  await deleteAt(new Date(clock.now().getTime() - 20 * MINUTE_MS));
  assert.equal((await ask(token)).totals.completed, 5);
  await deleteAt(new Date(clock.now().getTime() - 2 * HOUR_MS));
  assert.deepEqual((await ask(token)).subscriptions, []);
});

test('only the partitions of the range are read', async () => {
  const { tenant } = await createOwner();
  const { guid } = await createSubscription(app, tenant);
  const to = clock.now();
  const from = new Date(to.getTime() - 7 * 24 * HOUR_MS);
  const plan: string[] = [];
  const explaining: KyselyPlugin = {
    transformQuery: ({ node }) => RawNode.create(['explain ', ''], [node]),
    async transformResult({ result }) {
      plan.push(...result.rows.map((row) => String(row['QUERY PLAN'])));
      return { ...result, rows: [] };
    },
  };
  await selectStepCounts(queries.withPlugin(explaining), [guid], { from, to, stepSeconds: 7_200 });
  const read = new Set(plan.join('\n').match(/delivery_counters_\d{4}_\d\d_\d\d\b/g));
  assert.ok(read.size === 1 || read.size === 2, plan.join('\n'));
});
