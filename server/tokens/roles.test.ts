import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, userToken } from '../../testing/app/tenant.ts';
import { type Role, scopesOfRole } from './roles.ts';
import { allScopes } from './scopes.ts';

const app = await createTestApp();
const { organizationGuid, organizationKey } = await createTenant(app);

/** Scopes by role (contract, section 3), written out. */
const READ =
  `accounts bank_applications banks customers deposit_addresses executions external_bank_accounts files
  identity_verifications organization_applications organizations plans prices quotes subscription_events trades
  transfers workflows`
    .split(/\s+/)
    .map((resource) => `${resource}:read`);
const DEVELOPER_EXECUTES = `accounts banks customers deposit_addresses executions external_bank_accounts files
  identity_verifications plans quotes subscription_events trades transfers workflows`
  .split(/\s+/)
  .map((resource) => `${resource}:execute`);

const DEVELOPER_WRITES = ['accounts:write', 'customers:write', 'external_bank_accounts:write'];

const EXPECTED: Record<Role, string[]> = {
  founder: [...allScopes(), 'members:read', 'members:write', 'audit_entries:read'],
  key_admin: [...allScopes(), 'members:read', 'audit_entries:read'],
  developer: [...READ, 'members:read', ...DEVELOPER_EXECUTES, ...DEVELOPER_WRITES],
  viewer: [...READ, 'members:read'],
};

for (const [role, scopes] of Object.entries(EXPECTED) as [Role, string[]][])
  test(`a ${role} holds the scopes of the contract, without duplicates`, () => {
    assert.deepEqual(scopesOfRole(role).sort(), [...scopes].sort());
  });

test('only Founder and Key Admin hold subscriptions:* and the write scopes of key pairs', () => {
  for (const role of ['developer', 'viewer'] as const)
    for (const scope of scopesOfRole(role))
      assert.doesNotMatch(
        scope,
        /^subscriptions:|_applications:write$|^(banks|members|organizations):write$/,
      );
});

test('only Founder and Key Admin create and remove key pairs; every role lists them', async () => {
  for (const role of ['founder', 'key_admin', 'developer', 'viewer'] as const) {
    const token = await userToken(app, organizationGuid, role);
    const url = '/api/organization_applications';
    const payload = { name: role, ip_allowlist: ['8.8.8.8'] };
    const created = await app.call({ method: 'POST', url, token, payload });
    assert.equal((await app.call({ url, token })).status, 200);
    if (role === 'founder' || role === 'key_admin') {
      assert.equal(created.status, 201);
      const removed = await app.call({ method: 'DELETE', url: `${url}/${created.body.client_id}`, token });
      assert.equal(removed.status, 204);
    } else {
      assertError(created, 403, 'invalid_scopes');
      const one = `${url}/${organizationKey.clientId}`;
      assertError(await app.call({ method: 'DELETE', url: one, token }), 403, 'invalid_scopes');
      const patched = await app.call({ method: 'PATCH', url: one, token, payload: { name: 'x' } });
      assertError(patched, 403, 'invalid_scopes');
    }
  }
});

test('a user token is valid for five minutes and has no allowlist', async () => {
  const token = await userToken(app, organizationGuid, 'viewer');
  const list = () => app.call({ url: '/api/customers', token, remoteAddress: '9.9.9.9' });
  assert.equal((await list()).status, 200);
  app.clock.advance(299_999);
  assert.equal((await list()).status, 200);
  app.clock.advance(1);
  assertError(await list(), 401, 'authentication_failed', 'Signature has expired');
});
