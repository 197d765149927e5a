import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Key, PRODUCTION_HOST, tokenOf, userToken } from '../../../testing/app/tenant.ts';

/** `POST /oauth/introspect` (RFC 7662). */
const app = await createTestApp();
const tenant = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
const other = await createTenant(app);
const secondBank = await app.operate('POST', `/organizations/${tenant.organizationGuid}/banks`, {
  name: 'Second',
  environment: 'sandbox',
});
const banks = `/banks/${secondBank.body.guid}/applications`;
const { body: second } = await app.operate('POST', banks, { name: 'Key' });
const secondBankKey = { clientId: String(second.client_id), secret: String(second.client_secret) };

const ask = ({ clientId, secret }: Key, fields: object) =>
  app.call({
    method: 'POST',
    url: '/oauth/introspect',
    payload: { client_id: clientId, client_secret: secret, ...fields },
  });
const introspect = async (key: Key, token: string) => {
  const { status, body, headers } = await ask(key, { token });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers['cache-control'], 'no-store');
  return body;
};
const INACTIVE = { active: false };

const organizationToken = await tokenOf(app, tenant.organizationKey, 'customers:read banks:read');
const bankToken = await tokenOf(app, tenant.bankKey, 'customers:read');

test('an active token shows all its claims and its client', async () => {
  for (const [key, token] of [
    [tenant.organizationKey, organizationToken],
    [tenant.organizationKey, bankToken],
    [tenant.bankKey, bankToken],
  ] as const) {
    const claims = decodeJwt(token);
    assert.equal(claims.client_id, claims.sub);
    assert.deepEqual(await introspect(key, token), { active: true, ...claims });
  }
});

test('another tenant’s token is inactive for every client', async () => {
  for (const key of [other.organizationKey, other.bankKey])
    for (const token of [organizationToken, bankToken])
      assert.deepEqual(await introspect(key, token), INACTIVE);
});

test('a bank key can introspect only tokens of its bank', async () => {
  assert.deepEqual(await introspect(tenant.bankKey, organizationToken), INACTIVE);
  assert.deepEqual(await introspect(secondBankKey, bankToken), INACTIVE);
  assert.deepEqual(await introspect(secondBankKey, organizationToken), INACTIVE);
});

test('a user token is active for Organization keys, with the dashboard as its client, and inactive for bank keys', async () => {
  const token = await userToken(app, tenant.organizationGuid);
  const claims = decodeJwt(token);
  assert.equal(claims.client_id, 'dashboard');
  assert.deepEqual(await introspect(tenant.organizationKey, token), { active: true, ...claims });
  assert.deepEqual(await introspect(tenant.bankKey, token), INACTIVE);
  assert.deepEqual(await introspect(other.organizationKey, token), INACTIVE);
});

test('a token of the other environment is inactive', async () => {
  const production = await tokenOf(app, tenant.organizationKey, 'customers:read', { host: PRODUCTION_HOST });
  assert.deepEqual(await introspect(tenant.organizationKey, production), INACTIVE);
});

test('text that is not a token of this issuer is inactive', async () => {
  for (const token of [
    '',
    'x',
    'a.b.c',
    `${bankToken}A`,
    bankToken.slice(0, -2),
    ` ${bankToken}`,
    `${bankToken}\n`,
  ])
    assert.deepEqual(await introspect(tenant.bankKey, token), INACTIVE, token);
});

test('token_type_hint and unknown parameters are ignored; a missing token is refused', async () => {
  const fields = { token: bankToken, token_type_hint: 'refresh_token', extra: 1 };
  assert.equal((await ask(tenant.bankKey, fields)).body.active, true);
  assertError(await ask(tenant.bankKey, {}), 400, 'invalid_request', 'token is required');
});

test('introspection requires client authentication', async () => {
  const fields = { token: bankToken };
  assertError(await ask({ ...tenant.bankKey, secret: 'x' }, fields), 401, 'invalid_client');
  const none = await app.call({ method: 'POST', url: '/oauth/introspect', payload: fields });
  assertError(none, 400, 'invalid_request');
  const headers = { authorization: `Bearer ${bankToken}` };
  const bearer = await app.call({ method: 'POST', url: '/oauth/introspect', payload: fields, headers });
  assertError(bearer, 401, 'invalid_client');
});

test('a revoked token and an expired token are inactive', async () => {
  const token = await tokenOf(app, tenant.bankKey, 'customers:read');
  assert.equal((await introspect(tenant.bankKey, token)).active, true);
  const payload = { client_id: tenant.bankKey.clientId, client_secret: tenant.bankKey.secret, token };
  assert.equal((await app.call({ method: 'POST', url: '/oauth/revoke', payload })).status, 200);
  assert.deepEqual(await introspect(tenant.bankKey, token), INACTIVE);
  app.clock.advance(1_799_999);
  assert.equal((await introspect(tenant.bankKey, bankToken)).active, true);
  app.clock.advance(1);
  assert.deepEqual(await introspect(tenant.bankKey, bankToken), INACTIVE);
});
