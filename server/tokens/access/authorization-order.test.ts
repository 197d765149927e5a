import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createKey } from '../../../testing/app/tenant.ts';

/** Order of the checks on /api (contract, section 4). authorization.test.ts covers each check on each route. */
const app = await createTestApp();
const owner = await createCallers(app);
const INSIDE = '198.35.26.96';
const OUTSIDE = '198.35.26.97';

test('expiry and revocation come before the source address', async () => {
  const path = `/organizations/${owner.organizationGuid}/applications`;
  const organizationKey = await createKey(app, path, { name: 'Key' });
  const options = { ipAllowlist: [INSIDE] };
  const token = await issueToken(app, { ...owner, organizationKey }, 'organization', options);
  const outside = { url: '/api/customers', token, remoteAddress: OUTSIDE };
  assertError(await app.call(outside), 403, 'ip_not_allowed');
  const url = `/api/organization_applications/${organizationKey.clientId}`;
  await app.call({ method: 'DELETE', url, token: await issueToken(app, owner, 'user') });
  assertError(await app.call(outside), 401, 'authentication_failed', 'The access token is not valid');

  const expiring = await issueToken(app, owner, 'organization', options);
  app.clock.advance(1_800_000);
  assertError(
    await app.call({ ...outside, token: expiring }),
    401,
    'authentication_failed',
    'Signature has expired',
  );
});

test('the source address comes before the token type, and that before the scope', async () => {
  const options = { ipAllowlist: [INSIDE], scopes: [] };
  const token = await issueToken(app, owner, 'bank', options);
  const call = { url: '/api/organization_applications', token };
  assertError(await app.call({ ...call, remoteAddress: OUTSIDE }), 403, 'ip_not_allowed');
  assertError(await app.call({ ...call, remoteAddress: INSIDE }), 403, 'invalid_scopes', /bank token$/);
});

test('a wrong token type is refused with the types that the operation accepts', async () => {
  const token = await issueToken(app, owner, 'customer');
  for (const [url, types] of [
    ['/api/subscriptions', 'a user'],
    ['/api/organizations', 'an organization or user'],
    ['/api/banks', 'an organization, bank or user'],
  ] as const)
    assertError(
      await app.call({ url, token }),
      403,
      'invalid_scopes',
      `This operation needs ${types} token, not a customer token`,
    );
});

test('the input comes before the object and its state', async () => {
  const token = await issueToken(app, owner, 'user');
  const url = `/api/bank_applications/${'0'.repeat(32)}`;
  const payload = { ip_allowlist: [], nonsense: 1 };
  assertError(await app.call({ method: 'PATCH', url, token, payload }), 400, 'invalid_parameter', /nonsense/);
});

test('an unknown path is 404 and another method is 405, with a token or without', async () => {
  const token = await issueToken(app, owner, 'user');
  for (const credentials of [{}, { token }, { token: 'nonsense' }]) {
    for (const url of [
      '/api',
      '/api/',
      '/api/nothing',
      '/api/customers/x/y',
      '/API/customers',
      '/api//customers',
    ])
      assertError(await app.call({ url, ...credentials }), 404, 'not_found');
    const answer = await app.call({ method: 'PUT', url: '/api/customers', ...credentials });
    assertError(answer, 405, 'method_not_allowed');
    assert.equal(answer.headers.allow, 'GET, HEAD, POST');
  }
});

test('a path with a trailing slash passes the same guard', async () => {
  const token = await issueToken(app, owner, 'bank', { scopes: [] });
  assertError(await app.call({ url: '/api/customers/' }), 401, 'authentication_malformed');
  assertError(await app.call({ url: '/api/customers/', token }), 403, 'invalid_scopes');
});
