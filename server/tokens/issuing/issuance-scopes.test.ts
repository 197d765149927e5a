import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, everyScope, type Key, tokenOf } from '../../../testing/app/tenant.ts';

/** Scope rules of the contract, in its order. */
const app = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000' } });
const tenant = await createTenant(app);
const { organizationKey, bankKey } = tenant;
const KEYS = { organization: organizationKey, bank: bankKey };

const ask = ({ clientId: client_id, secret: client_secret }: Key, scope?: string) =>
  app.call({
    method: 'POST',
    url: '/oauth/token',
    payload: {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
      ...(scope === undefined ? {} : { scope }),
    },
  });

function assertRefused(answer: Answer, message: string): void {
  assertError(answer, 400, 'invalid_scope', message);
  assert.equal(answer.body.error, 'invalid_scope');
  assert.equal(answer.body.error_description, message);
}

function assertGranted({ status, body }: Answer, scope: string): void {
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.scope, scope);
  assert.equal(decodeJwt(String(body.access_token)).scope, scope);
}

test('every scope of its kind is granted to a key', async () => {
  for (const holder of ['organization', 'bank'] as const)
    assertGranted(await ask(KEYS[holder], everyScope(holder)), everyScope(holder));
});

test('missing, empty and blank scopes are refused', async () => {
  for (const scope of [undefined, '', ' ', '    '])
    assertRefused(await ask(organizationKey, scope), 'At least one scope is required');
});

test('an unknown scope is refused, also among known and dropped ones', async () => {
  for (const scope of ['no:such', 'trades:read no:such', 'subscriptions:read no:such'])
    assertRefused(await ask(organizationKey, scope), 'Unknown scope no:such');
  assertRefused(
    await ask(organizationKey, 'trades:read\tprices:read'),
    'Unknown scope trades:read?prices:read',
  );
  assertRefused(await ask(bankKey, 'banks:execute no:such'), 'Unknown scope no:such');
});

test('subscriptions:* is dropped for both kinds of keys', async () => {
  for (const key of Object.values(KEYS))
    for (const dropped of ['subscriptions:read', 'subscriptions:write', 'subscriptions:execute'])
      assertGranted(await ask(key, `${dropped} trades:read ${dropped}`), 'trades:read');
});

test('if every scope is dropped, the token has an empty scope and no access', async () => {
  for (const key of Object.values(KEYS)) {
    const answer = await ask(key, 'subscriptions:read subscriptions:write subscriptions:execute');
    assertGranted(answer, '');
    const token = String(answer.body.access_token);
    const refused = await app.call({ url: '/api/customers', token });
    assertError(refused, 403, 'invalid_scopes', 'This operation needs the scope customers:read');
  }
});

test('a scope that needs Organization credentials is refused with Bank credentials', async () => {
  for (const scope of ['banks:execute', 'organizations:read', 'subscription_events:read']) {
    assertRefused(await ask(bankKey, `trades:read ${scope}`), `${scope} needs Organization credentials`);
    assertGranted(await ask(organizationKey, scope), scope);
  }
});

test('a scope beyond the Application’s own is refused, after all the other rules', async () => {
  const scopes = ['trades:read'];
  const key = await createKey(app, `/banks/${tenant.bankGuid}/applications`, { name: 'Narrow', scopes });
  assertGranted(await ask(key, 'trades:read subscriptions:read'), 'trades:read');
  assertGranted(await ask(key, 'subscriptions:read'), '');
  assertRefused(await ask(key, 'prices:read trades:read'), 'This key does not hold the scope prices:read');
  assertRefused(await ask(key, 'prices:read banks:execute'), 'banks:execute needs Organization credentials');
  assertRefused(await ask(key, 'prices:read no:such'), 'Unknown scope no:such');
});

test('an edit of the Application applies to the next token; earlier tokens are not affected', async () => {
  const key = await createKey(app, `/banks/${tenant.bankGuid}/applications`, { name: 'Edited' });
  const before = await tokenOf(app, key, 'customers:read');
  const token = await tokenOf(app, bankKey, 'bank_applications:write trades:read');
  const url = `/api/bank_applications/${key.clientId}`;
  const payload = { scopes: ['trades:read'], ip_allowlist: ['8.8.8.8'] };
  assert.equal((await app.call({ method: 'PATCH', url, token, payload })).status, 200);
  assertRefused(await ask(key, 'customers:read'), 'This key does not hold the scope customers:read');
  assert.deepEqual(decodeJwt(await tokenOf(app, key, 'trades:read')).ip_allowlist, ['8.8.8.8']);
  assert.equal((await app.call({ url: '/api/customers', token: before })).status, 200);
});
