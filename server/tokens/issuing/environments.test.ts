import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Key, PRODUCTION_HOST, tokenOf } from '../../../testing/app/tenant.ts';
import { createEnvironments } from './environments.ts';

/** The issuer's address selects the environment (contract, section 2). */
const app = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000' } });
const sandbox = await createTenant(app, { environment: 'sandbox' });
const production = await createTenant(app, { environment: 'production' });
const HOSTS = { sandbox: 'localhost:4000', production: PRODUCTION_HOST };

const environments = (sandboxAuthUrl: string, productionAuthUrl: string) =>
  createEnvironments({ baseUrl: 'https://api.example', sandboxAuthUrl, productionAuthUrl });

test('the Host is matched with and without the default port, in any case', () => {
  const https = environments('https://id.sandbox.example', 'https://id.example');
  for (const host of ['id.example', 'ID.Example', 'id.example:443', 'Id.exAMPLE:443'])
    assert.equal(https.ofHost(host), 'production', host);
  const http = environments('http://sandbox.example', 'http://live.example');
  assert.equal(http.ofHost('live.example:80'), 'production');
  const port = environments('http://sandbox.example:8080', 'http://live.example:8080');
  assert.equal(port.ofHost('live.example:8080'), 'production');
  assert.equal(port.ofHost('live.example'), 'sandbox');
});

test('an unknown Host is sandbox', () => {
  const { ofHost } = environments('https://id.sandbox.example', 'https://id.example');
  for (const host of [
    undefined,
    '',
    'id.sandbox.example',
    'id.example:80',
    'id.example:8443',
    'xid.example',
    'id.example.evil',
    'evil/id.example',
    'id.example@evil',
    '1.2.3.4',
  ])
    assert.equal(ofHost(host), 'sandbox', String(host));
});

const ask = (url: string, { clientId, secret }: Key, host: string, more: object = {}) =>
  app.call({
    method: 'POST',
    url,
    headers: { host },
    payload: { grant_type: 'client_credentials', client_id: clientId, client_secret: secret, ...more },
  });

test('Organization keys work at both issuers, and the token has the environment', async () => {
  for (const [environment, host] of Object.entries(HOSTS)) {
    const claims = decodeJwt(await tokenOf(app, sandbox.organizationKey, 'banks:read', { host }));
    assert.equal(claims.environment, environment);
    assert.equal(claims.iss, `http://${host}`);
    assert.equal(claims.aud, 'http://localhost:4000');
  }
});

test('bank keys work only at the issuer of their environment, on every token endpoint', async () => {
  const { bankKey } = production;
  const right = await tokenOf(app, bankKey, 'banks:read', { host: 'PRODUCTION.localhost:4000' });
  assert.equal(decodeJwt(right).environment, 'production');
  assert.equal(
    (await ask('/oauth/introspect', bankKey, HOSTS.production, { token: right })).body.active,
    true,
  );
  for (const host of [HOSTS.sandbox, 'unheard.of.example']) {
    const customer = { customer_guid: '0'.repeat(32), scope: 'trades:read' };
    assertError(await ask('/oauth/token', bankKey, host, { scope: 'banks:read' }), 401, 'invalid_client');
    assertError(await ask('/oauth/customer_token', bankKey, host, customer), 401, 'invalid_client');
    assertError(await ask('/oauth/introspect', bankKey, host, { token: right }), 401, 'invalid_client');
    assertError(await ask('/oauth/revoke', bankKey, host, { token: right }), 401, 'invalid_client');
  }
  assertError(
    await ask('/oauth/token', sandbox.bankKey, HOSTS.production, { scope: 'banks:read' }),
    401,
    'invalid_client',
  );
});

test('at the wrong issuer the message names the right one, only with the correct secret', async () => {
  const wrongEnvironment = await ask('/oauth/token', production.bankKey, HOSTS.sandbox);
  const wrongSecret = await ask('/oauth/token', { ...production.bankKey, secret: 'x' }, HOSTS.sandbox);
  assertError(
    wrongEnvironment,
    401,
    'invalid_client',
    `This key works only in production; send the request to http://${HOSTS.production}/oauth/token`,
  );
  assertError(wrongSecret, 401, 'invalid_client', 'client_id or client_secret is incorrect');
});

test('a token can access only the customers of its environment', async () => {
  const guid = 'c'.repeat(32);
  const reported = await app.operate('PUT', `/objects/customer/${guid}`, {
    bank_guid: production.bankGuid,
    details: { type: 'individual' },
  });
  assert.equal(reported.status, 200);
  for (const [environment, host] of Object.entries(HOSTS)) {
    const token = await tokenOf(app, production.organizationKey, 'customers:read', { host });
    const { body } = await app.call({ url: '/api/customers', token });
    assert.equal(body.total, environment === 'production' ? 1 : 0);
    const one = await app.call({ url: `/api/customers/${guid}`, token });
    assert.equal(one.status, environment === 'production' ? 200 : 404);
  }
});
