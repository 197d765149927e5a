import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import {
  createKey,
  createTenant,
  everyScope,
  type Key,
  PRODUCTION_HOST,
  type Tenant,
  tokenOf,
  userToken,
} from '../../../testing/app/tenant.ts';

/** Customer tokens, by both operations (contract, section 9). */
const app = await createTestApp({
  environment: {
    PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '100000',
    PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '100000',
    PORTICO_RATE_LIMIT_CUSTOMER_TOKEN: '100000',
  },
});
const tenant = await createTenant(app);
const other = await createTenant(app);
const customer = await createCustomer(tenant);
const sibling = await createCustomer(tenant);

async function createCustomer({ bankKey }: Tenant): Promise<string> {
  const token = await tokenOf(app, bankKey, 'customers:execute');
  const payload = { type: 'individual' };
  const { status, body } = await app.call({ method: 'POST', url: '/api/customers', token, payload });
  assert.equal(status, 201);
  return String(body.guid);
}

/** `parent`: scopes of the parent token, if any. */
type Asked = { key: Key; customerGuid: string; scopes: readonly string[]; parent?: string };
const bySecret = (
  { key, customerGuid, scopes }: Asked,
  { host = 'localhost:4000', remoteAddress = '127.0.0.1', ...more }: Record<string, string> = {},
) =>
  app.call({
    method: 'POST',
    url: '/oauth/customer_token',
    headers: { host },
    remoteAddress,
    payload: {
      grant_type: 'client_credentials',
      client_id: key.clientId,
      client_secret: key.secret,
      customer_guid: customerGuid,
      scope: scopes.join(' '),
      ...more,
    },
  });
const byToken = async (
  { key, customerGuid, scopes, parent = everyScope('customer') }: Asked,
  { host = 'localhost:4000' } = {},
) => {
  const token = await tokenOf(app, key, parent, { host });
  const payload = { customer_guid: customerGuid, scopes };
  return app.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
};
const OPERATIONS = [
  { name: '/oauth/customer_token', ask: bySecret, success: 200 },
  { name: '/api/customer_tokens', ask: byToken, success: 201 },
];
const issued = ({ body }: Answer) => String(body.access_token);

for (const { name, ask, success } of OPERATIONS) {
  test(`${name}: the token names the customer, its bank and its environment, and has no allowlist`, async () => {
    for (const key of [tenant.bankKey, tenant.organizationKey]) {
      const answer = await ask({ key, customerGuid: customer, scopes: ['customers:read', 'trades:read'] });
      assert.equal(answer.status, success, JSON.stringify(answer.body));
      const { access_token, ...rest } = answer.body;
      assert.deepEqual(rest, {
        token_type: 'Bearer',
        expires_in: 1_800,
        scope: 'customers:read trades:read',
      });
      assert.equal(answer.headers['cache-control'], 'no-store');
      const { iat, exp, jti, parent_jti: parentJti, ...claims } = decodeJwt(String(access_token));
      assert.ok(exp === Number(iat) + 1_800 && jti);
      assert.equal(parentJti === undefined, ask === bySecret);
      assert.deepEqual(claims, {
        iss: 'http://localhost:4000',
        sub: key.clientId,
        client_id: key.clientId,
        aud: 'http://localhost:4000',
        token_type: 'customer',
        organization_guid: tenant.organizationGuid,
        bank_guid: tenant.bankGuid,
        customer_guid: customer,
        environment: 'sandbox',
        scope: 'customers:read trades:read',
        ip_allowlist: [],
      });
    }
  });

  test(`${name}: the token can access only its customer, and cannot create one`, async () => {
    const scopes = everyScope('customer').split(' ');
    const token = issued(await ask({ key: tenant.bankKey, customerGuid: customer, scopes }));
    const { body } = await app.call({ url: '/api/customers', token });
    assert.deepEqual(
      (body.objects as { guid: string }[]).map(({ guid }) => guid),
      [customer],
    );
    assert.equal((await app.call({ url: `/api/customers/${customer}`, token })).status, 200);
    assertError(await app.call({ url: `/api/customers/${sibling}`, token }), 404, 'not_found');
    const payload = { type: 'individual' };
    assertError(
      await app.call({ method: 'POST', url: '/api/customers', token, payload }),
      403,
      'invalid_scopes',
    );
    const again = { customer_guid: sibling, scopes };
    const minted = await app.call({ method: 'POST', url: '/api/customer_tokens', token, payload: again });
    assertError(minted, 403, 'invalid_scopes');
  });

  test(`${name}: unknown, malformed and foreign customers get the same no_customer`, async () => {
    const foreign = await createCustomer(other);
    const atProduction = crypto.randomUUID().replaceAll('-', '');
    const bank = await app.operate('POST', `/organizations/${tenant.organizationGuid}/banks`, {
      name: 'Live',
      environment: 'production',
    });
    const details = { type: 'individual' };
    await app.operate('PUT', `/objects/customer/${atProduction}`, { bank_guid: bank.body.guid, details });
    const scopes = ['trades:read'];
    const messages = new Set<unknown>();
    for (const customerGuid of [
      '0'.repeat(32),
      'nonsense',
      '',
      foreign,
      atProduction,
      customer.toUpperCase(),
    ])
      for (const key of [tenant.bankKey, tenant.organizationKey]) {
        const answer = await ask({ key, customerGuid, scopes });
        assertError(answer, 422, 'no_customer');
        messages.add(answer.body.message);
      }
    assert.equal(messages.size, 1);
    const found = await ask(
      { key: tenant.organizationKey, customerGuid: atProduction, scopes },
      { host: PRODUCTION_HOST },
    );
    assert.equal(decodeJwt(issued(found)).environment, 'production');
  });

  test(`${name}: a bank key cannot use a customer of another bank`, async () => {
    const banks = `/organizations/${tenant.organizationGuid}/banks`;
    const bank = await app.operate('POST', banks, { name: 'Second', environment: 'sandbox' });
    const key = await createKey(app, `/banks/${bank.body.guid}/applications`, { name: 'k' });
    assertError(await ask({ key, customerGuid: customer, scopes: ['trades:read'] }), 422, 'no_customer');
  });

  test(`${name}: a scope that customers cannot hold, and no scope, get invalid_scope`, async () => {
    const cases = [
      [],
      ['no:such'],
      ['files:read'],
      ['customers:execute'],
      ['subscriptions:read'],
      ['banks:read'],
    ];
    for (const scopes of cases) {
      const answer = await ask({ key: tenant.organizationKey, customerGuid: customer, scopes });
      assertError(answer, 400, 'invalid_scope');
    }
  });

  test(`${name}: the token cannot hold a scope that the key lacks`, async () => {
    const scopes = ['customers:read', 'customers:write', 'trades:read'];
    const path = `/banks/${tenant.bankGuid}/applications`;
    const key = await createKey(app, path, { name: 'Narrow', scopes });
    const asked = { key, customerGuid: customer, parent: scopes.join(' ') };
    assert.equal((await ask({ ...asked, scopes: ['trades:read'] })).status, success);
    const refused = await ask({ ...asked, scopes: ['trades:read', 'prices:read'] });
    assertError(refused, 400, 'invalid_scope', /prices:read/);
  });
}

test('the key’s allowlist applies to /oauth/customer_token, not to calls with the token', async () => {
  const { bankKey, bankGuid } = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
  const guid = crypto.randomUUID().replaceAll('-', '');
  await app.operate('PUT', `/objects/customer/${guid}`, {
    bank_guid: bankGuid,
    details: { type: 'business' },
  });
  const asked = { key: bankKey, customerGuid: guid, scopes: ['customers:read'] };
  const denied = await bySecret(asked, { remoteAddress: '8.8.4.4' });
  assertError(denied, 403, 'ip_not_allowed', 'IP address not in allowlist');
  assert.equal(denied.body.error, 'forbidden');
  assert.equal(denied.body.error_description, denied.body.message);
  // The address is checked first: another address must not learn whether a customer exists.
  const unknown = { ...asked, customerGuid: '0'.repeat(32) };
  assertError(await bySecret(unknown, { remoteAddress: '8.8.4.4' }), 403, 'ip_not_allowed');
  const token = issued(await bySecret(asked, { remoteAddress: '8.8.8.8' }));
  assert.equal((await app.call({ url: '/api/customers', token, remoteAddress: '9.9.9.9' })).status, 200);
});

test('/oauth/customer_token refuses like the token endpoint', async () => {
  const asked = { key: tenant.bankKey, customerGuid: customer, scopes: ['trades:read'] };
  assertError(await bySecret(asked, { client_secret: 'x' }), 401, 'invalid_client');
  assertError(await bySecret(asked, { grant_type: 'password' }), 400, 'unsupported_grant_type');
  assertError(await bySecret(asked, { host: PRODUCTION_HOST }), 401, 'invalid_client');
});

test('/api/customer_tokens needs both customer scopes and a key’s token', async () => {
  const payload = { customer_guid: customer, scopes: ['trades:read'] };
  const ask = (token: string) => app.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
  for (const scope of ['customers:read', 'customers:write', 'customers:execute'])
    assertError(await ask(await tokenOf(app, tenant.bankKey, scope)), 403, 'invalid_scopes');
  assertError(await ask(await userToken(app, tenant.organizationGuid)), 403, 'invalid_scopes');
});
