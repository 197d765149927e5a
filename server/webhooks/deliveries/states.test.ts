import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Insertable } from 'kysely';
import { objectsOf } from '../../../testing/api/answers.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../testing/app/tenant.ts';
import { insertDeliveries } from '../../../testing/webhooks/deliveries.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import type { Tables } from '../../infrastructure/database/tables.ts';

/** Views of deliveries and attempts (specification, Delivery; contract, section 7). */
const app = await createTestApp();
const { clock } = app;
const tenant = await createTenant(app);
const subscription = await createSubscription(app, tenant, { active: true });
type Options = Parameters<typeof insertDeliveries>[3][number];
type Item = Record<string, unknown>;

const insert = async (options: Options) =>
  (await insertDeliveries(app, tenant, subscription, [options]))[0] as string;

/** Without the requests, which `attempts/` tests. */
async function get(guid: string): Promise<Item & { attempts: Item[] }> {
  const token = await userToken(app, tenant.organizationGuid);
  const { status, body } = await app.call({ url: `/api/subscription_deliveries/${guid}`, token });
  assert.equal(status, 200, JSON.stringify(body));
  const { request_body: _body, ...delivery } = body as Item & { attempts: Item[] };
  return { ...delivery, attempts: delivery.attempts.map(({ request: _request, ...shown }) => shown) };
}

async function listed(guid: string, state?: string): Promise<Item | undefined> {
  const token = await userToken(app, tenant.organizationGuid);
  const filter = state === undefined ? '' : `&state=${state}&created_at_gte=2026-01-01T00:00:00Z`;
  const url = `/api/subscription_deliveries?per_page=100${filter}`;
  return objectsOf(await app.call({ url, token })).find((delivery) => delivery.guid === guid);
}

function attempt(
  guid: string,
  number: number,
  fields: Partial<Insertable<Tables['delivery_attempts']>> = {},
) {
  return {
    delivery_guid: guid,
    number,
    attempted_at: clock.now(),
    duration_ms: 10,
    outcome: 'rejected' as const,
    response_status: 500,
    ...fields,
  };
}

test('a new delivery is storing and omits empty fields', async () => {
  const dueAt = new Date(clock.now().getTime() + 1_000);
  const event_guid = 'e'.repeat(32);
  const guid = await insert({ dueAt, event_guid });
  const now = clock.now().toISOString();
  const expected = {
    guid,
    subscription_guid: subscription.guid,
    subscription_event_guid: event_guid,
    event_type: 'transfer.completed',
    environment: 'sandbox',
    state: 'storing',
    attempt_count: 0,
    next_attempt_at: dueAt.toISOString(),
    created_at: now,
    updated_at: now,
  };
  assert.deepEqual(await listed(guid), expected);
  assert.deepEqual(await get(guid), { ...expected, attempts: [] });
});

test('a delivery is failing after ten seconds of failures, in its view and in filters', async () => {
  const failing_since = clock.now();
  const shown = { failing_since, attempt_count: 2, failure_kind: 'rejected', response_status: 503 } as const;
  const guid = await insert({ ...shown, response_time_ms: 12 });
  for (const [ms, state, other] of [
    [9_999, 'storing', 'failing'],
    [1, 'failing', 'storing'],
    [3_600_000, 'failing', 'storing'],
  ] as const) {
    clock.advance(ms);
    const delivery = await get(guid);
    assert.equal(delivery.state, state);
    assert.deepEqual([delivery.failure_kind, delivery.response_status], ['rejected', 503]);
    assert.equal(delivery.response_time_ms, 12);
    assert.equal((await listed(guid, state))?.state, state);
    assert.equal(await listed(guid, other), undefined);
  }
});

test('completed and failed are final and have no next attempt', async () => {
  const created_at = clock.now();
  const ended = new Date(created_at.getTime() + 5_000);
  clock.advance(60_000);
  for (const state of ['completed', 'failed'] as const) {
    const guid = await insert({ created_at, failing_since: created_at, ended: state, at: ended });
    const delivery = await get(guid);
    assert.equal(delivery.state, state);
    assert.equal(delivery[`${state}_at`], ended.toISOString());
    assert.ok(!('next_attempt_at' in delivery));
    for (const filter of ['storing', 'failing', 'completed', 'failed'])
      assert.equal((await listed(guid, filter))?.state, filter === state ? state : undefined);
  }
});

test('a successful first attempt is derived from the delivery', async () => {
  const at = clock.now();
  const response = { response_status: 204, response_time_ms: 2_001, response_excerpt: 'thank you' };
  const guid = await insert({ ended: 'completed', at, attempt_count: 1, ...response });
  assert.deepEqual((await get(guid)).attempts, [
    {
      number: 1,
      attempted_at: new Date(at.getTime() - 2_001).toISOString(),
      duration_ms: 2_001,
      outcome: 'completed',
      response_status: 204,
      response_excerpt: 'thank you',
      slow: true,
    },
  ]);
});

test('a delivery that failed without an attempt shows no attempts', async () => {
  assert.deepEqual((await get(await insert({ ended: 'failed' }))).attempts, []);
});

test('each attempt shows its outcome and whether it was slow', async () => {
  const guid = await insert({ attempt_count: 4, ended: 'completed', failing_since: clock.now() });
  const reason = 'the host does not resolve to a public address';
  await app.database.queries
    .insertInto('delivery_attempts')
    .values([
      attempt(guid, 4, { outcome: 'completed', response_status: 200, duration_ms: 2_000 }),
      attempt(guid, 2, { outcome: 'unreachable', response_status: null, reason }),
      attempt(guid, 1, { response_excerpt: 'oh no' }),
      attempt(guid, 3, { outcome: 'timeout', response_status: null, duration_ms: 10_000, reason: 'late' }),
    ])
    .execute();
  const attempted_at = clock.now().toISOString();
  assert.deepEqual((await get(guid)).attempts, [
    {
      ...{ number: 1, attempted_at, duration_ms: 10, outcome: 'rejected' },
      ...{ response_status: 500, response_excerpt: 'oh no', slow: false },
    },
    { number: 2, attempted_at, duration_ms: 10, outcome: 'unreachable', reason, slow: false },
    { number: 3, attempted_at, duration_ms: 10_000, outcome: 'timeout', reason: 'late', slow: true },
    { number: 4, attempted_at, duration_ms: 2_000, outcome: 'completed', response_status: 200, slow: false },
  ]);
});

test('the last hundred attempts are shown, oldest first', async () => {
  const guid = await insert({ attempt_count: 1_000, failing_since: clock.now() });
  const attempts = Array.from({ length: 1_000 }, (_, index) => attempt(guid, index + 1));
  await app.database.queries.insertInto('delivery_attempts').values(attempts).execute();
  const delivery = await get(guid);
  assert.equal(delivery.attempt_count, 1_000);
  assert.deepEqual(
    delivery.attempts.map(({ number }) => number),
    Array.from({ length: 100 }, (_, index) => 901 + index),
  );
});
