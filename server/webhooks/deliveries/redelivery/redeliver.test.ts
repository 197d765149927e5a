import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';

/** POST /api/subscription_deliveries: a new cycle of attempts (specification, Delivery). */
const app = await createTestApp({ environment: { PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true' } });
const { clock } = app;
const tenant = await createTenant(app);
const stranger = await createTenant(app);
const scope = 'subscription_events:execute';
const WEEK_MS = 7 * 24 * 3_600_000;

const restart = (token: string, subscription_event_guid: string, subscription_guid: string) =>
  app.call({
    method: 'POST',
    url: '/api/subscription_deliveries',
    token,
    payload: { subscription_event_guid, subscription_guid },
  });

const sandboxToken = () => tokenOf(app, tenant.organizationKey, scope);

test('a redelivery creates a new delivery with an audit record, and sends it', async () => {
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url, active: true });
  const [event = ''] = await publishEvents(app, tenant);
  clock.advance(1_000);
  const { status, body } = await restart(await sandboxToken(), event, subscription.guid);
  assert.equal(status, 201, JSON.stringify(body));
  const now = clock.now().toISOString();
  assert.deepEqual(body, {
    guid: body.guid,
    subscription_guid: subscription.guid,
    subscription_event_guid: event,
    event_type: 'transfer.completed',
    environment: 'sandbox',
    state: 'storing',
    attempt_count: 0,
    next_attempt_at: now,
    created_at: now,
    updated_at: now,
    requested_as: 'redelivery',
    requested_by: { type: 'application', id: tenant.organizationKey.clientId },
  });
  const deliveries = (await deliveriesOf(app, subscription)).filter(({ event_guid }) => event_guid === event);
  assert.equal(deliveries.length, 2);

  const record = soleRecord(await auditRecordsOf(app, String(body.guid)));
  assert.equal(record.action, 'subscription_delivery.create');
  assert.equal(record.organization_guid, tenant.organizationGuid);
  assert.equal(record.actor, tenant.organizationKey.clientId);
  const changes = { subscription_event_guid: event, subscription_guid: subscription.guid };
  assert.deepEqual(record.changes, changes);

  await app.dispatcher.start();
  await app.dispatcher.drain();
  await app.dispatcher.stop();
  const sent = endpoint.received
    .map((request) => String(request.body))
    .filter((text) => text.includes(event));
  assert.equal(sent.length, 2);
  assert.equal(sent[0], sent[1], 'the same bytes');
  const token = await sandboxToken();
  const after = await app.call({ url: `/api/subscription_deliveries/${body.guid}`, token });
  assert.deepEqual([after.body.state, after.body.attempt_count], ['completed', 1]);
});

test('event and subscription must belong to the caller and to the same environment', async () => {
  const own = await createSubscription(app, tenant);
  const live = await createSubscription(app, tenant, { environment: 'production' });
  const [event = ''] = await publishEvents(app, tenant);
  const environment = 'production';
  const [liveEvent = ''] = await publishEvents(app, tenant, [{ bank_guid: undefined, environment }]);
  const theirs = await createSubscription(app, stranger);
  const [theirEvent = ''] = await publishEvents(app, stranger);
  const person = await userToken(app, tenant.organizationGuid);
  const sandbox = await sandboxToken();
  const production = await tokenOf(app, tenant.organizationKey, scope, { host: PRODUCTION_HOST });
  const none = '0'.repeat(32);
  for (const [token, eventGuid, subscriptionGuid, field] of [
    [person, none, own.guid, 'subscription_event_guid'],
    [person, theirEvent, own.guid, 'subscription_event_guid'],
    [person, event, none, 'subscription_guid'],
    [person, event, theirs.guid, 'subscription_guid'],
    [person, event, live.guid, 'subscription_guid'],
    [person, liveEvent, own.guid, 'subscription_guid'],
    [sandbox, liveEvent, live.guid, 'subscription_event_guid'],
    [production, event, own.guid, 'subscription_event_guid'],
  ] as const)
    assertError(
      await restart(token, eventGuid, subscriptionGuid),
      404,
      'not_found',
      new RegExp(`^${field} does not`),
    );
  for (const [token, eventGuid, subscriptionGuid] of [
    [person, liveEvent, live.guid],
    [production, liveEvent, live.guid],
    [sandbox, event, own.guid],
  ] as const)
    assert.equal((await restart(token, eventGuid, subscriptionGuid)).status, 201);
});

test('the read scope is not sufficient', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'subscription_events:read');
  assertError(await restart(token, '0'.repeat(32), '0'.repeat(32)), 403, 'invalid_scopes');
});

test('a subscription that no longer delivers: 409, and nothing is created', async () => {
  for (const end of ['disabled', 'deleted', 'failed'] as const) {
    const owner = await createTenant(app);
    const subscription = await createSubscription(app, owner);
    const [event = ''] = await publishEvents(app, owner);
    const path = `/subscriptions/${subscription.guid}`;
    if (end === 'disabled') await app.operate('PATCH', path, { disabled: true });
    if (end === 'deleted') {
      const token = await userToken(app, owner.organizationGuid);
      await app.call({ method: 'DELETE', url: `/api${path}`, token });
      clock.advance(24 * 3_600_000);
    }
    if (end === 'failed')
      await app.database.queries
        .updateTable('subscriptions')
        .set({ deliveries_failing_since: new Date(clock.now().getTime() - WEEK_MS), failed_at: clock.now() })
        .where('guid', '=', subscription.guid)
        .execute();
    const before = (await deliveriesOf(app, subscription)).length;
    const token = await userToken(app, owner.organizationGuid);
    const answer = await restart(token, event, subscription.guid);
    const cause =
      end === 'disabled' ? /^subscription_guid .* the operator has disabled/ : /no longer delivers/;
    assertError(answer, 409, 'delivery_not_retryable', cause);
    assert.equal((await deliveriesOf(app, subscription)).length, before, end);
  }
});
