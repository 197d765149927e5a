import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, everyScope, PRODUCTION_HOST, tokenOf } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { createFile } from '../../testing/objects/files.ts';
import { dashboardToken, joinTeam } from '../../testing/people/dashboard.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import type { Role } from '../tokens/roles.ts';

const app = await createTestApp();
const tenant = await createTenant(app);
const { organizationGuid, bankGuid, organizationKey } = tenant;
const founder = await joinTeam(app, organizationGuid, { email: 'ada@partner.example' });
const token = await dashboardToken(app, founder, organizationGuid);

async function find(q: string, as = token): Promise<Record<string, unknown>[]> {
  const { status, body } = await app.call({ url: `/api/lookup?q=${encodeURIComponent(q)}`, token: as });
  assert.equal(status, 200, JSON.stringify(body));
  return body.objects as Record<string, unknown>[];
}
const dashed = (guid: string) => guid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();

test('a guid, client_id, request id, email address or URL leads to its object', async () => {
  const customerGuid = await createCustomer(app, bankGuid);
  const place = { environment: 'sandbox', bank_guid: bankGuid };
  assert.deepEqual(await find(bankGuid), [{ type: 'bank', guid: bankGuid, name: 'Bank', ...place }]);
  const [customer] = await find(`see ${dashed(customerGuid)}, please`);
  assert.deepEqual([customer?.type, customer?.object_type], ['object', 'customers']);
  const url = 'https://ledger.partner.example/hooks';
  const created = await createSubscription(app, tenant, { name: 'Ledger', url });
  const subscription = {
    type: 'subscription',
    guid: created.guid,
    name: 'Ledger',
    detail: url,
    environment: 'sandbox',
  };
  assert.deepEqual(await find(created.guid), [subscription]);
  assert.deepEqual(await find('https://ledger.partner.example/hooks'), [subscription]);
  assert.deepEqual(await find('https://ledger.partner.example/'), [subscription]);
  const key = tokenOf(app, organizationKey, everyScope('organization'));
  const events = await app.call({ url: '/api/subscription_events', token: await key });
  const [event] = events.body.objects as { guid: string; event_type: string }[];
  assert.deepEqual((await find(String(event?.guid)))[0]?.name, event?.event_type);
  const deliveries = await app.call({ url: '/api/subscription_deliveries', token: await key });
  const [delivery] = deliveries.body.objects as { guid: string; subscription_event_guid: string }[];
  const [found] = await find(String(delivery?.guid));
  assert.deepEqual(
    [found?.type, found?.subscription_event_guid],
    ['delivery', delivery?.subscription_event_guid],
  );
  assert.deepEqual(await find(organizationKey.clientId), [
    { type: 'application', guid: organizationKey.clientId, name: 'Key' },
  ]);
  const member = { type: 'member', guid: founder.memberGuid, name: 'ada@partner.example', detail: 'founder' };
  assert.deepEqual(await find(' Ada@partner.example '), [member]);
  assert.deepEqual(await find(founder.memberGuid), [member]);
  await app.requestRecorder.flush();
  const requestId = String(deliveries.headers['x-request-id']);
  const [request] = await find(requestId);
  assert.deepEqual(
    [request?.type, request?.name, request?.detail],
    ['request', 'GET /api/subscription_deliveries', '200'],
  );
  for (const nothing of [
    'transfers',
    '0'.repeat(32),
    'eve@partner.example',
    'https://other.example',
    'ftp://a',
  ])
    assert.deepEqual(await find(nothing), [], nothing);
});

test('an endpoint whose URL contains a guid, such as an inbox, is found by its whole URL', async () => {
  const url = `https://inbox.partner.example/portico-inbox/${'a'.repeat(32)}`;
  const { guid } = await createSubscription(app, tenant, { name: 'Inbox', url });
  assert.deepEqual(
    (await find(url)).map((found) => found.guid),
    [guid],
  );
  assert.deepEqual(await find(`https://inbox.partner.example/events/${'b'.repeat(32)}`), []);
});

test('the other environment is named', async () => {
  const other = await createTenant(app, { environment: 'production' });
  const person = await joinTeam(app, other.organizationGuid);
  const theirs = await dashboardToken(app, person, other.organizationGuid);
  assert.equal((await find(other.bankGuid, theirs))[0]?.environment, 'production');
  const call = await app.call({
    url: '/api/banks',
    token: await tokenOf(app, other.organizationKey, 'banks:read', { host: PRODUCTION_HOST }),
  });
  await app.requestRecorder.flush();
  assert.equal((await find(String(call.headers['x-request-id']), theirs))[0]?.environment, 'production');
});

test('nothing of another Organization is found, and a role finds only objects that it may read', async () => {
  const other = await createTenant(app);
  const stranger = await joinTeam(app, other.organizationGuid);
  const theirs = await dashboardToken(app, stranger, other.organizationGuid);
  const key = await tokenOf(app, organizationKey, everyScope('organization'));
  const url = 'https://ledger.partner.example/hooks';
  const [subscription] = await find(url);
  const customerGuid = await createCustomer(app, bankGuid);
  const file = await createFile(app, { ...tenant, customerGuid, token: key });
  const newest = async (list: string) => {
    const { headers, body } = await app.call({ url: `/api/${list}`, token: key });
    const [first] = body.objects as { guid: string }[];
    return [String(headers['x-request-id']), String(first?.guid)];
  };
  const [, eventGuid = ''] = await newest('subscription_events');
  const [requestId = '', deliveryGuid = ''] = await newest('subscription_deliveries');
  await app.requestRecorder.flush();
  const guids = [bankGuid, organizationKey.clientId, founder.memberGuid, String(subscription?.guid)];
  guids.push(customerGuid, file.guid, eventGuid, deliveryGuid, requestId);
  for (const q of [...guids, 'ada@partner.example', url]) {
    assert.equal((await find(q)).length, 1, q);
    assert.deepEqual(await find(q, theirs), [], q);
  }
  const scopes = ['banks:read'];
  const narrow = await issueToken(app, { ...tenant, customerGuid }, 'user', { scopes });
  for (const q of [...guids, 'ada@partner.example', url])
    assert.equal((await find(q, narrow)).length, q === bankGuid ? 1 : 0, q);
  for (const role of ['developer', 'viewer'] as Role[]) {
    const person = await joinTeam(app, organizationGuid, { role });
    const as = await dashboardToken(app, person, organizationGuid);
    const named = [{ ...subscription, detail: 'ledger.partner.example' }];
    assert.deepEqual(await find(String(subscription?.guid), as), named);
    assert.deepEqual(await find('https://ledger.partner.example/other', as), named);
    assert.equal((await find(bankGuid, as)).length, 1);
  }
  assertError(await app.call({ url: '/api/lookup?q=x', token: key }), 403, 'invalid_scopes');
});
