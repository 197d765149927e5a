import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createKey, createTenant, everyScope, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { createCustomer, customerToken } from '../../../../testing/objects/customers.ts';
import { allScopes } from '../../../tokens/scopes.ts';

/** Enforcement of the allowlist (specification, Authentication 10). */
const app = await createTestApp();
const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.96', '193.0.6.0/24'] });
const OUTSIDE = '198.35.26.97';

const from = (token: string, remoteAddress: string | undefined) =>
  app.call({ url: '/api/customers', token, ...(remoteAddress && { remoteAddress }) });

test('a call from an address outside the list gets exactly the specification’s 403', async () => {
  for (const [key, scopes] of [
    [tenant.organizationKey, everyScope('organization')],
    [tenant.bankKey, everyScope('bank')],
  ] as const) {
    const answer = await from(await tokenOf(app, key, scopes), OUTSIDE);
    assert.equal(answer.status, 403);
    assert.deepEqual(answer.body, {
      error: 'forbidden',
      message_code: 'ip_not_allowed',
      message: 'IP address not in allowlist',
    });
  }
});

test('addresses inside the ranges pass, their neighbours do not', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  for (const address of ['198.35.26.96', '193.0.6.0', '193.0.6.139', '193.0.6.255'])
    assert.equal((await from(token, address)).status, 200, address);
  for (const address of ['198.35.26.95', '198.35.26.97', '193.0.5.255', '193.0.7.0', '127.0.0.1'])
    assertError(await from(token, address), 403, 'ip_not_allowed');
});

test('an IPv4-mapped IPv6 source counts as IPv4; other IPv6 sources are denied', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  for (const address of ['::ffff:198.35.26.96', '::FFFF:198.35.26.96', '::ffff:c623:1a60'])
    assert.equal((await from(token, address)).status, 200, address);
  const lookalikes = ['::198.35.26.96', '64:ff9b::198.35.26.96', '2002:c623:1a60::', '2001:4860::1', '::1'];
  for (const address of ['::ffff:198.35.26.97', ...lookalikes])
    assertError(await from(token, address), 403, 'ip_not_allowed');
});

test('without a list every source passes, IPv6 too', async () => {
  const open = await createTenant(app);
  const token = await tokenOf(app, open.organizationKey, 'customers:read');
  for (const address of [OUTSIDE, '10.0.0.1', '2001:4860::1'])
    assert.equal((await from(token, address)).status, 200);
});

test('without a trusted proxy, headers do not change the source address', async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  const inside = '198.35.26.96';
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'true-client-ip', 'x-client-ip']) {
    const value = header === 'forwarded' ? `for=${inside}` : inside;
    const call = { url: '/api/customers', token, headers: { [header]: value } };
    assertError(await app.call({ ...call, remoteAddress: OUTSIDE }), 403, 'ip_not_allowed');
  }
  const moved = { url: '/api/customers', token, headers: { 'x-forwarded-for': OUTSIDE } };
  assert.equal((await app.call({ ...moved, remoteAddress: inside })).status, 200);
});

test('the token carries the list: an edit applies to the next token', async () => {
  const path = `/organizations/${tenant.organizationGuid}/applications`;
  const key = await createKey(app, path, { name: 'Key', ip_allowlist: ['198.35.26.96'] });
  const edit = async (ip_allowlist: string[]) => {
    const url = `/api/organization_applications/${key.clientId}`;
    const token = await userToken(app, tenant.organizationGuid);
    const { status } = await app.call({ method: 'PATCH', url, token, payload: { ip_allowlist } });
    assert.equal(status, 200);
    return tokenOf(app, key, 'customers:read');
  };
  const first = await tokenOf(app, key, 'customers:read');
  const second = await edit(['193.0.6.139']);
  const third = await edit([]);
  const fourth = await edit(['198.35.26.97']);
  const addresses = ['198.35.26.96', '193.0.6.139', '198.35.26.97'];
  const passing = async (token: string) => {
    const answers = await Promise.all(addresses.map((address) => from(token, address)));
    return answers.map(({ status }) => status === 200);
  };
  assert.deepEqual(await passing(first), [true, false, false]);
  assert.deepEqual(await passing(second), [false, true, false]);
  assert.deepEqual(await passing(third), [true, true, true]);
  assert.deepEqual(await passing(fourth), [false, false, true]);
});

test('the list does not gate /oauth/token', async () => {
  const { clientId, secret } = tenant.organizationKey;
  const credentials = { client_id: clientId, client_secret: secret };
  const payload = { grant_type: 'client_credentials', ...credentials, scope: 'customers:read' };
  const options = { method: 'POST', url: '/oauth/token', payload, remoteAddress: OUTSIDE } as const;
  assert.equal((await app.call(options)).status, 200);
});

test('customer and user tokens are not gated by the lists of keys', async () => {
  const customer = await createCustomer(app, tenant.bankGuid);
  const tokens = [
    await customerToken(app, tenant, customer, allScopes()),
    await userToken(app, tenant.organizationGuid),
  ];
  for (const token of tokens)
    for (const address of [OUTSIDE, '2001:4860::1', '127.0.0.1'])
      assert.equal((await from(token, address)).status, 200);
});

test('a customer token obtained with a gated key’s token is not gated either', async () => {
  const token = await tokenOf(app, tenant.bankKey, 'customers:read customers:write');
  const customer_guid = await createCustomer(app, tenant.bankGuid);
  const payload = { customer_guid, scopes: ['customers:read'] };
  const options = { method: 'POST', url: '/api/customer_tokens', token, payload } as const;
  assertError(await app.call({ ...options, remoteAddress: OUTSIDE }), 403, 'ip_not_allowed');
  const { body } = await app.call({ ...options, remoteAddress: '198.35.26.96' });
  assert.equal((await from(String(body.access_token), OUTSIDE)).status, 200);
});
