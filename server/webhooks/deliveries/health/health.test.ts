import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../../testing/app/tenant.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, refusing } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  pass,
  queueOf,
  setDisabled,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import type { Statistics } from '../statistics/statistics-schema.ts';
import type { HealthViewed, Timeline } from './health-schema.ts';

/** GET /api/endpoint_health, and the figures of a failing endpoint in GET /api/delivery_statistics */
const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const MINUTE_MS = 60_000;
const EXHAUSTED = { kind: 'answer', status: 500, body: 'database connection pool exhausted' } as const;

async function createEndpoint(name = 'Old ledger') {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: `${endpoint.url}/secret-path`, name });
  await dispatcher.drain();
  const read = async <View>(path: string, role: 'founder' | 'developer' | 'viewer' = 'viewer') => {
    const token = await userToken(app, tenant.organizationGuid, role);
    const { status, body } = await app.call({ url: `/api${path}`, token });
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as View;
  };
  const path = `/endpoint_health/${subscription.guid}`;
  return {
    ...{ tenant, endpoint, subscription, read },
    health: () => read<HealthViewed>(path),
    timeline: (range = '1h') => read<Timeline>(`${path}/timeline?range=${range}`),
    totals: async () => (await read<Statistics>('/delivery_statistics')).totals,
  };
}

test('every role reads name, host and health of an endpoint, but not the path of its URL', async () => {
  const { endpoint, subscription, read } = await createEndpoint();
  for (const role of ['founder', 'developer', 'viewer'] as const) {
    const { objects } = await read<{ objects: HealthViewed[] }>('/endpoint_health', role);
    assert.deepEqual(objects, [
      {
        subscription_guid: subscription.guid,
        name: 'Old ledger',
        host: new URL(endpoint.url).host,
        environment: 'sandbox',
        state: 'active',
        health: 'healthy',
        waiting: 0,
        waiting_is_minimum: false,
        errors: [],
      },
    ]);
  }
});

test('a failing endpoint has its last error, counts by kind, its start, the waiting count and the next attempt', async () => {
  const { tenant, endpoint, health, read, subscription } = await createEndpoint();
  endpoint.behave(EXHAUSTED);
  const since = clock.now();
  await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  endpoint.behave({ kind: 'answer', status: 503, body: 'busy' });
  await pass(3_000, [app]);
  const [first, ...others] = await queueOf(app, subscription);
  await app.database.queries
    .updateTable('delivery_queue')
    .set({ due_at: new Date(clock.now().getTime() + 60 * MINUTE_MS) })
    .where(
      'delivery_guid',
      'in',
      others.map((row) => row.delivery_guid),
    )
    .execute();
  const { last_error: error, ...rest } = await health();
  assert.deepEqual(
    [rest.health, rest.failing_since, rest.waiting, rest.oldest_waiting_at],
    ['failing', since.toISOString(), 3, since.toISOString()],
  );
  assert.deepEqual(rest.errors, [
    { kind: 'rejected', status: 503, count: 3 },
    { kind: 'rejected', status: 500, count: 3 },
  ]);
  assert.deepEqual([error?.kind, error?.status, error?.excerpt], ['rejected', 503, 'busy']);
  assert.equal(rest.next_attempt_at, first?.due_at.toISOString());
  const delivery = await read<{ attempts: { number: number; response_status?: number }[] }>(
    `/subscription_deliveries/${error?.delivery_guid}`,
  );
  const attempt = delivery.attempts.find(({ number }) => number === error?.attempt_number);
  assert.equal(attempt?.response_status, 503);
  assert.equal((await read<HealthViewed>(`/endpoint_health/${subscription.guid}`, 'founder')).waiting, 3);
});

test('after a recovery everything is delivered, the last error stays, and a new outage counts from zero', async () => {
  const { tenant, endpoint, health, totals } = await createEndpoint();
  endpoint.behave(EXHAUSTED);
  await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  await pass(11_000, [app]);
  const during = await totals();
  assert.deepEqual([during.completed, during.due, during.waiting], [1, 4, 3]);
  assert.equal(during.delivered_rate, 1 / 4);
  endpoint.behave({ kind: 'answer' });
  await pass(10_000, [app]);
  const { completed, due, delivered_rate, completed_first_attempt, failed, waiting, success_rate } =
    await totals();
  assert.deepEqual(
    { completed, due, delivered_rate, completed_first_attempt, failed, waiting },
    { completed: 4, due: 4, delivered_rate: 1, completed_first_attempt: 1, failed: 0, waiting: 0 },
  );
  assert.ok(success_rate !== undefined && success_rate < 0.5);
  const recovered = await health();
  assert.deepEqual([recovered.health, recovered.errors], ['healthy', []]);
  assert.ok(recovered.recovered_at);
  assert.equal(recovered.last_error?.status, 500);

  endpoint.behave(EXHAUSTED);
  await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  assert.deepEqual((await health()).errors, [{ kind: 'rejected', status: 500, count: 3 }]);
});

test('timeouts are counted and part of the percentiles', async () => {
  const { tenant, endpoint, health, totals } = await createEndpoint();
  endpoint.behave({ kind: 'hang' });
  await publishEvents(app, tenant, 1);
  await endpoint.waitForCount(2);
  clock.advance(10_000);
  await dispatcher.drain();
  const { timeouts, p50_ms, p99_ms } = await totals();
  assert.deepEqual([timeouts, p99_ms], [1, 10_000]);
  assert.ok(p50_ms !== undefined && p50_ms <= 5);
  const { errors, last_error: error } = await health();
  assert.deepEqual(errors, [{ kind: 'timeout', count: 1 }]);
  assert.ok(error?.reason && error.status === undefined);
});

test('an endpoint without a 2xx is inactive or failing, with the next attempt of its first delivery', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url: await refusing() });
  await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  const token = await userToken(app, tenant.organizationGuid);
  const { body } = await app.call({ url: `/api/endpoint_health/${guid}`, token });
  const { state, health, waiting, errors, next_attempt_at: next } = body as unknown as HealthViewed;
  assert.deepEqual([state, health, waiting], ['storing', 'failing', 4]);
  assert.deepEqual(errors, [{ kind: 'unreachable', count: 1 }]);
  assert.ok(Date.parse(String(next)) > clock.now().getTime());
});

test('deliveries of a subscription that is disabled fail for good and are counted', async () => {
  const { tenant, endpoint, subscription, health, totals } = await createEndpoint();
  endpoint.behave(EXHAUSTED);
  await publishEvents(app, tenant, 2);
  await dispatcher.drain();
  await setDisabled(app, subscription, true);
  await pass(5_000, [app]);
  const { health: shown, waiting, next_attempt_at: next } = await health();
  assert.deepEqual([shown, waiting, next], ['disabled', 0, undefined]);
  const { failed, due, completed } = await totals();
  assert.deepEqual({ failed, due, completed }, { failed: 2, due: 3, completed: 1 });
});

test('the timeline has the periods of an outage and the changes of the subscription', async () => {
  clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const { tenant, endpoint, subscription, timeline } = await createEndpoint();
  const start = clock.now();
  const after = (minutes: number) => new Date(start.getTime() + minutes * MINUTE_MS).toISOString();
  await pass(5 * MINUTE_MS, [app], MINUTE_MS);
  endpoint.behave(EXHAUSTED);
  await publishEvents(app, tenant, 1);
  await dispatcher.drain();
  await pass(10 * MINUTE_MS, [app], MINUTE_MS);
  endpoint.behave({ kind: 'answer' });
  await publishEvents(app, tenant, 1);
  await dispatcher.drain();
  await pass(5 * MINUTE_MS, [app], MINUTE_MS);
  await setDisabled(app, subscription, true);
  await pass(5 * MINUTE_MS, [app], MINUTE_MS);
  await setDisabled(app, subscription, false);
  await pass(5 * MINUTE_MS, [app], MINUTE_MS);
  const { periods, changes } = await timeline();
  assert.deepEqual(periods.map(({ from, health }) => [from, health]).slice(1), [
    [after(0), 'healthy'],
    [after(5), 'failing'],
    [after(15), 'healthy'],
    [after(20), 'disabled'],
    [after(25), 'healthy'],
  ]);
  assert.deepEqual([periods[0]?.health, periods.at(-1)?.to], ['unknown', after(30)]);
  assert.deepEqual(
    changes.map(({ at, kind }) => [at, kind]),
    [
      [after(0), 'created'],
      [after(5), 'failing'],
      [after(15), 'recovered'],
      [after(20), 'disabled'],
      [after(25), 'enabled'],
    ],
  );
  clock.advance(2 * 60 * MINUTE_MS);
  assert.deepEqual(
    (await timeline()).periods.map(({ health }) => health),
    ['healthy'],
  );
  assert.ok((await timeline('7d')).changes.some(({ kind }) => kind === 'disabled'));
});

test('resuming a pause of a failing endpoint is not shown as its recovery', async () => {
  const { tenant, endpoint, subscription, health, timeline } = await createEndpoint();
  endpoint.behave(EXHAUSTED);
  clock.advance(MINUTE_MS);
  await publishEvents(app, tenant, 1);
  await dispatcher.drain();
  for (const paused of [true, false]) {
    clock.advance(MINUTE_MS);
    await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { paused });
  }
  clock.advance(MINUTE_MS);
  assert.equal((await health()).recovered_at, undefined);
  const { periods, changes } = await timeline();
  assert.equal(periods.at(-1)?.health, 'failing');
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['created', 'failing', 'paused', 'resumed'],
  );
});

test('an endpoint that is paused and disabled stays stopped in its timeline until both end', async () => {
  const { tenant, subscription, health, timeline } = await createEndpoint();
  const shown: (string | undefined)[][] = [];
  const pause = (paused: boolean) => founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { paused });
  for (const change of [
    () => pause(true),
    () => setDisabled(app, subscription, true),
    () => setDisabled(app, subscription, false),
    () => setDisabled(app, subscription, true),
    () => pause(false),
  ]) {
    clock.advance(MINUTE_MS);
    await change();
    clock.advance(MINUTE_MS);
    shown.push([(await health()).health, (await timeline()).periods.at(-1)?.health]);
  }
  const states = ['paused', 'disabled', 'paused', 'disabled', 'disabled'];
  assert.deepEqual(
    shown,
    states.map((state) => [state, state]),
  );
});

test('an unknown range and a subscription of another Organization are refused', async () => {
  const { subscription } = await createEndpoint();
  const other = await createTenant(app);
  const token = await userToken(app, other.organizationGuid);
  const url = `/api/endpoint_health/${subscription.guid}`;
  assertError(await app.call({ url, token }), 404, 'not_found');
  assertError(await app.call({ url: `${url}/timeline`, token }), 404, 'not_found');
  const wrong = await app.call({ url: `${url}/timeline?range=30d`, token });
  assertError(wrong, 400, 'invalid_parameter', /^range/);
});

test('deliveries that are created as failed, because the subscription is disabled, count as failed', async () => {
  const { tenant, subscription, totals } = await createEndpoint();
  await setDisabled(app, subscription, true);
  await dispatcher.drain();
  await publishEvents(app, tenant, 3);
  clock.advance(5_000);
  await until(async () => (await totals()).failed > 0);
  const { completed, due, failed, delivered_rate, success_rate } = await totals();
  assert.deepEqual(
    { completed, due, failed, delivered_rate, success_rate },
    { completed: 1, due: 4, failed: 3, delivered_rate: 1 / 4, success_rate: 1 },
  );
});
