import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { assertError } from '../../../../testing/app/app.ts';
import { createTenant, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, refusing } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  attemptsOf,
  createDispatchingApp,
  deliveryOf,
  pass,
  showDelivery,
} from '../../../../testing/webhooks/webhooks.ts';
import { USER_AGENT } from '../sending/signature.ts';

const app = await createDispatchingApp();

type Shown = {
  requested_by?: unknown;
  response_headers?: Record<string, string>;
  request: {
    url?: string;
    address?: string;
    headers: Record<string, string>;
    hidden?: string[];
    not_recorded?: string[];
  };
};

type Redelivered = { guid: string; requested_by: Record<string, unknown>; attempts: Shown[] };

/** An active endpoint with a path, and a delivery to it after `behave`. */
async function deliver(behaviour: Parameters<Awaited<ReturnType<typeof createTestEndpoint>>['behave']>[0]) {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: `${endpoint.url}/hook?key=1` });
  await app.dispatcher.drain();
  endpoint.behave(behaviour);
  const [event] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  const { guid } = await deliveryOf(app, subscription, String(event));
  const shownTo = async (role: 'founder' | 'developer' | 'viewer') => {
    const token = await userToken(app, tenant.organizationGuid, role);
    const { body } = await app.call({ url: `/api/subscription_deliveries/${guid}`, token });
    return (body.attempts as Shown[])[0] as Shown;
  };
  return { tenant, endpoint, subscription, guid, shownTo };
}

test('a failed attempt shows the request and response as they were', async () => {
  const headers = {
    'content-type': 'text/plain',
    'x-request-id': 'abc',
    'set-cookie': 'session=1',
    'x-api-key': 'secret',
  };
  const { tenant, endpoint, guid } = await deliver({ kind: 'answer', status: 500, headers, body: 'closed' });
  const sent = endpoint.received.at(-1);
  const shown = await showDelivery(app, tenant, guid);
  const [attempt] = shown.attempts as unknown as Shown[];
  assert.equal(shown.request_body, sent?.body.toString());
  assert.equal(attempt?.request.url, `${endpoint.url}/hook?key=1`);
  assert.equal(attempt.request.address, '127.0.0.1');
  assert.equal(attempt.request.not_recorded, undefined);
  for (const [name, value] of Object.entries(attempt.request.headers))
    assert.equal(value, sent?.headers[name], name);
  assert.equal(Object.keys(attempt.request.headers).length, 6);
  const { 'content-type': type, 'x-request-id': id, ...others } = attempt.response_headers ?? {};
  assert.deepEqual([type, id], ['text/plain', 'abc']);
  assert.ok(!('set-cookie' in others) && !('x-api-key' in others));
  assert.equal(attempt.requested_by, undefined, 'automatic');
});

test('a first attempt that succeeds stores nothing and names the fields that are not recorded', async () => {
  const { tenant, endpoint, guid } = await deliver({ kind: 'answer', status: 200 });
  assert.deepEqual(await attemptsOf(app, { guid }), []);
  const [attempt] = (await showDelivery(app, tenant, guid)).attempts as unknown as Shown[];
  const sent = endpoint.received.at(-1);
  assert.equal(attempt?.request.url, `${endpoint.url}/hook?key=1`);
  assert.deepEqual(attempt.request.not_recorded, [
    'address',
    'user-agent',
    'webhook-timestamp',
    'webhook-signature',
    'response_headers',
  ]);
  assert.equal(attempt.request.headers['x-service-signature'], sent?.headers['x-service-signature']);
  assert.equal(attempt.request.headers['webhook-id'], sent?.headers['webhook-id']);
});

test('after a change of the URL an unrecorded attempt has none, and a recorded one keeps its own', async () => {
  const { tenant, endpoint, subscription, guid } = await deliver({ kind: 'answer', status: 200 });
  endpoint.behave({ kind: 'answer', status: 500 });
  const [event] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  const failed = await deliveryOf(app, subscription, String(event));
  await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url: `${endpoint.url}/new` });
  const [first] = (await showDelivery(app, tenant, guid)).attempts as unknown as Shown[];
  assert.equal(first?.request.url, undefined);
  assert.ok(first?.request.not_recorded?.includes('url'));
  const [second] = (await showDelivery(app, tenant, failed.guid)).attempts as unknown as Shown[];
  assert.equal(second?.request.url, `${endpoint.url}/hook?key=1`);
});

test('the path of the URL and the signatures are hidden by role', async () => {
  const { endpoint, shownTo } = await deliver({ kind: 'answer', status: 500 });
  const { request: founders } = await shownTo('founder');
  assert.equal(founders.hidden, undefined);
  const { request: developers } = await shownTo('developer');
  assert.deepEqual([developers.url, developers.hidden], [new URL(endpoint.url).origin, ['url']]);
  assert.ok(developers.headers['webhook-signature']);
  const { request: viewers } = await shownTo('viewer');
  assert.deepEqual(viewers.hidden, ['url', 'x-service-signature', 'webhook-signature']);
  assert.equal(viewers.headers['webhook-signature'], undefined);
});

test('an attempt without a connection shows the address that was tried', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url: await refusing() });
  await app.dispatcher.drain();
  const { guid: delivery } = await app.database.queries
    .selectFrom('deliveries')
    .select('guid')
    .where('subscription_guid', '=', guid)
    .executeTakeFirstOrThrow();
  const [attempt] = (await showDelivery(app, tenant, delivery)).attempts as unknown as Shown[];
  assert.equal(attempt?.request.address, '127.0.0.1');
  assert.equal(attempt.response_headers, undefined);
});

test('a redelivery names its requester, its first attempt is recorded, and retries are automatic', async () => {
  const { tenant, endpoint, subscription, guid } = await deliver({ kind: 'answer', status: 500 });
  const token = await userToken(app, tenant.organizationGuid);
  const shown = await showDelivery(app, tenant, guid);
  const redeliver = async () => {
    const { body } = await app.call({
      method: 'POST',
      url: '/api/subscription_deliveries',
      token,
      payload: {
        subscription_event_guid: shown.subscription_event_guid,
        subscription_guid: subscription.guid,
      },
    });
    assert.equal(body.requested_as, 'redelivery');
    await app.dispatcher.drain();
    return (await showDelivery(app, tenant, String(body.guid))) as unknown as Redelivered;
  };
  const failed = await redeliver();
  assert.deepEqual(failed.requested_by, failed.attempts[0]?.requested_by);
  assert.equal(failed.requested_by.type, 'user');
  endpoint.behave({ kind: 'answer', status: 200, headers: { 'x-served-by': 'b' }, body: 'ok' });
  const [succeeded] = (await redeliver()).attempts;
  assert.equal(succeeded?.request.not_recorded, undefined);
  assert.equal(succeeded?.request.headers['user-agent'], USER_AGENT);
  assert.equal(succeeded?.response_headers?.['x-served-by'], 'b');
  await pass(3_000, [app]);
  const retried = (await showDelivery(app, tenant, failed.guid)).attempts as unknown as Shown[];
  assert.equal(retried.length, 2);
  assert.equal(retried[1]?.requested_by, undefined);
});

test('a signed request has the present time and a valid signature, and needs two scopes', async () => {
  const { tenant, endpoint, subscription, guid } = await deliver({ kind: 'answer', status: 500 });
  app.clock.advance(3_600_000);
  const url = `/api/subscription_deliveries/${guid}/request`;
  const { body } = await app.call({ url, token: await userToken(app, tenant.organizationGuid) });
  const headers = body.headers as Record<string, string>;
  assert.equal(body.url, `${endpoint.url}/hook?key=1`);
  assert.equal(body.body, endpoint.received.at(-1)?.body.toString());
  const timestamp = Math.floor(app.clock.now().getTime() / 1_000);
  assert.equal(headers['webhook-timestamp'], String(timestamp));
  const signed = `${headers['webhook-id']}.${timestamp}.${body.body}`;
  const signature = createHmac('sha256', subscription.signing_key).update(signed).digest('base64');
  assert.equal(headers['webhook-signature'], `v1,${signature}`);
  const developer = await userToken(app, tenant.organizationGuid, 'developer');
  assertError(await app.call({ url, token: developer }), 403, 'invalid_scopes');
  const key = await tokenOf(app, tenant.organizationKey, 'subscription_events:read');
  assertError(await app.call({ url, token: key }), 403, 'invalid_scopes');
});
