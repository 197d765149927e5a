import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { assertError } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';
import { fill } from '../../../../testing/database/database.ts';
import { insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, pass } from '../../../../testing/webhooks/webhooks.ts';

const app = await createDispatchingApp();

async function list(tenant: Tenant, query: string) {
  const token = await userToken(app, tenant.organizationGuid, 'viewer');
  return app.call({ url: `/api/subscription_events?${query}`, token });
}

async function guidsOf(tenant: Tenant, query: string): Promise<unknown[]> {
  return objectsOf(await list(tenant, query)).map(({ guid }) => guid);
}

/** Greater guids than those of the deliveries so far. */
function later(seconds: number): Date {
  return new Date(app.clock.now().getTime() + 1_000 * seconds);
}

/** Two active endpoints; the second fails. */
async function createEndpoints() {
  const tenant = await createTenant(app);
  const [healthy, failing] = [await createTestEndpoint(), await createTestEndpoint()];
  const first = await createSubscription(app, tenant, { url: healthy.url });
  const second = await createSubscription(app, tenant, { url: failing.url });
  await app.dispatcher.drain();
  failing.behave({ kind: 'answer', status: 500 });
  return { tenant, failing, first, second };
}

test('events have the states of their deliveries, and are found by them', async () => {
  const { tenant, failing, first, second } = await createEndpoints();
  const published = await publishEvents(app, tenant, 3);
  await app.dispatcher.drain();
  await pass(15_000, [app]);
  const newestFirst = published.toReversed();
  const types = 'event_type=transfer.completed&';
  const { body } = await list(tenant, `${types}include=delivery_counts`);
  const counts = { total: 2, completed: 1, storing: 0, failing: 1, failed: 0 };
  assert.deepEqual(
    (body.objects as Record<string, unknown>[]).map((event) => event.delivery_counts),
    [counts, counts, counts],
  );
  assert.equal('delivery_counts' in (objectsOf(await list(tenant, types))[0] ?? {}), false);

  assert.deepEqual(await guidsOf(tenant, `${types}delivery_state=failing`), newestFirst);
  assert.deepEqual(await guidsOf(tenant, `${types}delivery_state=completed`), newestFirst, 'each once');
  assert.deepEqual(await guidsOf(tenant, `${types}delivery_state=failed`), []);
  const ofFirst = `${types}subscription_guid=${first.guid}`;
  assert.deepEqual(await guidsOf(tenant, ofFirst), newestFirst);
  assert.deepEqual(await guidsOf(tenant, `${ofFirst}&delivery_state=failing`), []);
  assert.deepEqual(
    await guidsOf(tenant, `subscription_guid=${second.guid}&delivery_state=failing&guid=${published[1]}`),
    [published[1]],
  );
  assert.deepEqual(await guidsOf(tenant, `${ofFirst}&delivery_state=failing&guid=${published[1]}`), []);

  failing.behave({ kind: 'answer', status: 204 });
  const { status } = await app.call({
    method: 'POST',
    url: '/api/subscription_deliveries',
    token: await userToken(app, tenant.organizationGuid),
    payload: { subscription_event_guid: published[2], subscription_guid: second.guid },
  });
  assert.equal(status, 201);
  await pass(15_000, [app]);
  const stillFailing = await guidsOf(tenant, `${types}delivery_state=failing`);
  assert.ok(!stillFailing.includes(published[2]));
  assert.deepEqual(
    objectsOf(await list(tenant, `guid=${published[2]}&include=delivery_counts`))[0]?.delivery_counts,
    { total: 2, completed: 2, storing: 0, failing: 0, failed: 0 },
  );
});

test('a redelivery supersedes the failed delivery of its event', async () => {
  const { tenant, second } = await createEndpoints();
  const [event = ''] = await publishEvents(app, tenant);
  const failed = { event_guid: event, created_at: later(1), attempt_count: 3, ended: 'failed' as const };
  await insertDeliveries(app, tenant, second, [failed]);
  await app.database.queries
    .updateTable('deliveries')
    .set({ failed_at: app.clock.now() })
    .where('event_guid', '=', event)
    .where('subscription_guid', '=', second.guid)
    .execute();
  assert.deepEqual(
    await guidsOf(tenant, 'delivery_state=failed'),
    [event],
    'two failed deliveries, one event',
  );
  await insertDeliveries(app, tenant, second, [
    { event_guid: event, created_at: later(2), failing_since: new Date(0) },
  ]);
  assert.deepEqual(await guidsOf(tenant, 'delivery_state=failed'), []);
  assert.deepEqual(await guidsOf(tenant, 'delivery_state=failing'), [event]);
});

test('an event is listed once, though a redelivery has failed after it was delivered', async () => {
  const { tenant, first } = await createEndpoints();
  const [event = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await insertDeliveries(app, tenant, first, [{ event_guid: event, created_at: later(1), ended: 'failed' }]);
  const types = 'event_type=transfer.completed&';
  assert.deepEqual(await guidsOf(tenant, `${types}subscription_guid=${first.guid}`), [event]);
  assert.deepEqual(await guidsOf(tenant, `${types}delivery_state=completed,failed`), [event]);
});

test('pages continue without repetition, and the time is the one of the event', async () => {
  const { tenant } = await createEndpoints();
  const before = await publishEvents(app, tenant, 2);
  await app.dispatcher.drain();
  app.clock.advance(60_000);
  const middle = app.clock.now().toISOString();
  const after = await publishEvents(app, tenant, 3);
  await app.dispatcher.drain();
  const filter = 'event_type=transfer.completed&delivery_state=completed';
  const seen: unknown[] = [];
  for (let next = ''; ; ) {
    const { body } = await list(tenant, `${filter}&per_page=2${next && `&after=${next}`}`);
    seen.push(...(body.objects as { guid: string }[]).map(({ guid }) => guid));
    if (body.next === undefined) break;
    next = String(body.next);
  }
  assert.deepEqual(seen, [...before, ...after].toReversed());
  assert.deepEqual(await guidsOf(tenant, `${filter}&created_at_gte=${middle}`), after.toReversed());
  assert.deepEqual(await guidsOf(tenant, `${filter}&created_at_lt=${middle}`), before.toReversed());
});

test('wrong values are refused, and other tenants see nothing', async () => {
  const { tenant, first } = await createEndpoints();
  assertError(await list(tenant, 'delivery_state=done'), 400, 'invalid_parameter', /delivery_state must be/);
  assertError(await list(tenant, 'include=body'), 400, 'invalid_parameter', /include must be/);
  assertError(await list(tenant, 'delivery_state=failed&page=1'), 400, 'invalid_parameter', /use after/);
  assertError(await list(tenant, 'delivery_state=failed&event_type=no.type'), 400, 'invalid_parameter');
  const stranger = await createTenant(app);
  assert.deepEqual(await guidsOf(stranger, `subscription_guid=${first.guid}`), []);
});

test('a rare state is found in a long history without reading it', async () => {
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant);
  const now = app.clock.now();
  const [event = ''] = await publishEvents(app, tenant);
  await insertDeliveries(app, tenant, subscription, [
    { event_guid: event, created_at: later(1), ended: 'failed' },
  ]);
  await fill(
    app.database,
    sql`
    insert into deliveries (guid, subscription_guid, organization_guid, environment, event_guid, event_type,
      object_guid, attempt_count, created_at, updated_at, completed_at)
    select guid, ${subscription.guid}::uuid, ${tenant.organizationGuid}::uuid, 'sandbox', guid, 'trade.completed',
      guid, 1, ${now}, ${now}, ${now}
    from (select (lpad(to_hex(${now.getTime() + 2_000}::bigint + n), 12, '0') || '70008'
      || lpad(to_hex(n), 15, '0'))::uuid as guid from generate_series(1, 20000) as n) as made`,
  );
  const { body } = await list(tenant, 'delivery_state=failed');
  assert.deepEqual([body.total, (body.objects as { guid: string }[])[0]?.guid], [1, event]);
});
