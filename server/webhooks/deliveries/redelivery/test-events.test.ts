import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../../testing/api/answers.ts';
import { assertError, type TestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';
import { createSubscription, type SubscriptionBody } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  eventIn,
  isSignedWith,
  setDisabled,
  showDelivery,
  subscriptionRow,
} from '../../../../testing/webhooks/webhooks.ts';

/** POST /api/subscriptions/{guid}/test_event */
const app: TestApp = await createDispatchingApp();
const { clock, dispatcher } = app;

async function send(
  { organizationGuid }: Tenant,
  { guid }: Pick<SubscriptionBody, 'guid'>,
  role: Parameters<typeof userToken>[2] = 'founder',
) {
  const token = await userToken(app, organizationGuid, role);
  return app.call({ method: 'POST', url: `/api/subscriptions/${guid}/test_event`, token });
}

async function createEndpoint(tenant: Tenant) {
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  return { endpoint, subscription };
}

test('only this subscription receives a signed subscription.storing of itself', async () => {
  const tenant = await createTenant(app);
  const { endpoint, subscription } = await createEndpoint(tenant);
  const other = await createEndpoint(tenant);
  const before = [endpoint.received.length, other.endpoint.received.length];
  const { status, body } = await send(tenant, subscription);
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.state, 'storing');
  assert.equal(body.subscription_guid, subscription.guid);
  await dispatcher.drain();
  assert.deepEqual(
    [endpoint.received.length, other.endpoint.received.length],
    [(before[0] ?? 0) + 1, before[1]],
  );
  const request = endpoint.received.at(-1);
  assert.ok(request && isSignedWith(subscription.signing_key, request));
  assert.deepEqual(eventIn(request), {
    guid: body.subscription_event_guid,
    organization_guid: tenant.organizationGuid,
    event_type: 'subscription.storing',
    object_guid: subscription.guid,
    environment: 'sandbox',
  });
  assert.equal((await showDelivery(app, tenant, String(body.guid))).state, 'completed');
});

test('the test event is recorded like any other and can be redelivered', async () => {
  const tenant = await createTenant(app);
  const { endpoint, subscription } = await createEndpoint(tenant);
  const { body } = await send(tenant, subscription);
  const token = await userToken(app, tenant.organizationGuid);
  const guid = String(body.subscription_event_guid);
  const [event] = objectsOf(await app.call({ url: `/api/subscription_events?guid=${guid}`, token }));
  assert.deepEqual([event?.event_type, event?.object_guid], ['subscription.storing', subscription.guid]);
  const payload = { subscription_event_guid: guid, subscription_guid: subscription.guid };
  const again = await app.call({ method: 'POST', url: '/api/subscription_deliveries', token, payload });
  assert.equal(again.status, 201, JSON.stringify(again.body));
  await dispatcher.drain();
  assert.equal(endpoint.received.filter((request) => eventIn(request).guid === guid).length, 2);
});

test('before the first 2xx the test event waits, and the first delivery is retried at once', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'answer', status: 500 });
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  const { body } = await send(tenant, subscription);
  assert.equal(body.next_attempt_at, undefined);
  await dispatcher.drain();
  assert.equal(endpoint.received.length, 2);
  assert.equal(new Set(endpoint.received.map((request) => eventIn(request).guid)).size, 1);
  assert.equal((await showDelivery(app, tenant, String(body.guid))).attempt_count, 0);
  endpoint.behave({ kind: 'answer' });
  const second = await send(tenant, subscription);
  await dispatcher.drain();
  assert.ok((await subscriptionRow(app, subscription)).activated_at, 'without any time passing');
  for (const { guid } of [body, second.body])
    assert.equal((await showDelivery(app, tenant, String(guid))).state, 'completed');
});

test('a failed test event is retried', async () => {
  const tenant = await createTenant(app);
  const { endpoint, subscription } = await createEndpoint(tenant);
  endpoint.behave({ kind: 'answer', status: 500 });
  const { body } = await send(tenant, subscription);
  await dispatcher.drain();
  assert.equal((await showDelivery(app, tenant, String(body.guid))).attempt_count, 1);
  endpoint.behave({ kind: 'answer' });
  clock.advance(2_000);
  await dispatcher.drain();
  assert.equal((await showDelivery(app, tenant, String(body.guid))).state, 'completed');
});

test('a test event has an audit record', async () => {
  const tenant = await createTenant(app);
  const { subscription } = await createEndpoint(tenant);
  const { body } = await send(tenant, subscription, 'developer');
  const record = soleRecord(await auditRecordsOf(app, String(body.guid)));
  assert.deepEqual(
    [record.action, record.actor_type, record.organization_guid, record.changes],
    [
      'subscription_delivery.test',
      'user',
      tenant.organizationGuid,
      { subscription_event_guid: body.subscription_event_guid, subscription_guid: subscription.guid },
    ],
  );
});

test('developers may send test events, viewers may not', async () => {
  const tenant = await createTenant(app);
  const { subscription } = await createEndpoint(tenant);
  assert.equal((await send(tenant, subscription, 'developer')).status, 201);
  assertError(await send(tenant, subscription, 'viewer'), 403, 'invalid_scopes');
});

test('disabled and failed subscriptions get no test event; deleting ones do', async () => {
  const tenant = await createTenant(app);
  const { subscription } = await createEndpoint(tenant);
  await setDisabled(app, subscription, true);
  assertError(await send(tenant, subscription), 409, 'delivery_not_retryable', /operator has disabled/);
  await setDisabled(app, subscription, false);
  const token = await userToken(app, tenant.organizationGuid);
  const url = `/api/subscriptions/${subscription.guid}`;
  assert.equal((await app.call({ method: 'DELETE', url, token })).status, 200);
  assert.equal((await send(tenant, subscription)).status, 201);
  await app.database.queries
    .updateTable('subscriptions')
    .set({ failed_at: clock.now() })
    .where('guid', '=', subscription.guid)
    .execute();
  assertError(await send(tenant, subscription), 409, 'delivery_not_retryable', /no longer delivers/);
});

test('a deleted subscription is not found', async () => {
  const tenant = await createTenant(app);
  const { subscription } = await createEndpoint(tenant);
  await app.database.queries
    .updateTable('subscriptions')
    .set({ deleted_at: clock.now() })
    .where('guid', '=', subscription.guid)
    .execute();
  assertError(await send(tenant, subscription), 404, 'not_found');
});

test('at most 30 test events within five minutes per subscription', async () => {
  const tenant = await createTenant(app);
  const [{ subscription }, other] = [await createEndpoint(tenant), await createEndpoint(tenant)];
  // Rate limit windows are fixed, so start at the beginning of one.
  clock.advance(300_000 - (clock.now().getTime() % 300_000));
  for (let sent = 0; sent < 30; sent++) assert.equal((await send(tenant, subscription)).status, 201);
  const refused = await send(tenant, subscription);
  assertError(refused, 429, 'rate_limit_exceeded');
  assert.equal(refused.headers['retry-after'], '300');
  const token = await userToken(app, tenant.organizationGuid);
  const list = await app.call({
    url: `/api/subscription_deliveries?subscription_guid=${subscription.guid}`,
    token,
  });
  // Includes the events of the two creations.
  assert.equal(list.body.total, 32);
  assert.equal((await send(tenant, other.subscription)).status, 201, 'another one has a limit of its own');
  await dispatcher.drain();
  clock.advance(300_000);
  assert.equal((await send(tenant, subscription)).status, 201);
});

test('test events require the webhooks feature', async () => {
  const tenant = await createTenant(app);
  const { subscription } = await createEndpoint(tenant);
  await app.operate('PATCH', `/organizations/${tenant.organizationGuid}`, { features: ['files'] });
  assertError(await send(tenant, subscription), 422, 'not_implemented');
});
