import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import { assertError, createTestApp, type TestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Key, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';

/** Nodes cache key pairs; a change on one node invalidates the caches of the others. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: first.clock });
after(() => testDatabase.drop());

const tenant = await createTenant(first);
const founder = await userToken(first, tenant.organizationGuid);
const patch = (app: TestApp, { clientId }: Key, payload: object) =>
  app.call({ method: 'PATCH', url: `/api/bank_applications/${clientId}`, token: founder, payload });

const requestToken = (app: TestApp, { clientId, secret }: Key) =>
  app.call({
    method: 'POST',
    url: '/oauth/token',
    payload: {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
      scope: 'customers:read',
    },
  });

test('an edit on one node applies to the next token on another, cached or not', async () => {
  for (const entry of ['198.35.26.96', '198.35.26.97', '198.35.26.98']) {
    await tokenOf(second, tenant.bankKey, 'customers:read');
    assert.equal((await patch(first, tenant.bankKey, { ip_allowlist: [entry] })).status, 200);
    const claims = decodeJwt(await tokenOf(second, tenant.bankKey, 'customers:read'));
    assert.deepEqual(claims.ip_allowlist, [entry]);
  }
});

test('concurrent edits and token requests never leave an old list cached', async () => {
  for (let round = 0; round < 10; round++) {
    const entry = `198.35.27.${round}`;
    const edit = patch(first, tenant.bankKey, { ip_allowlist: [entry] });
    const tokens = Array.from({ length: 5 }, () => tokenOf(second, tenant.bankKey, 'customers:read'));
    await Promise.all([edit, ...tokens]);
    const claims = decodeJwt(await tokenOf(second, tenant.bankKey, 'customers:read'));
    assert.deepEqual(claims.ip_allowlist, [entry]);
  }
});

test('a removed key pair gets no token from a node that cached it', async () => {
  const { bankKey } = await createTenant(first);
  await tokenOf(second, bankKey, 'customers:read');
  assert.equal((await first.operate('DELETE', `/applications/${bankKey.clientId}`)).status, 204);
  assertError(await requestToken(second, bankKey), 401, 'invalid_client');
});

test('a node that missed swept revocations drops its cache', async () => {
  const { bankKey } = await createTenant(first);
  await tokenOf(second, bankKey, 'customers:read');
  await second.revocations.stop();
  assert.equal((await first.operate('DELETE', `/applications/${bankKey.clientId}`)).status, 204);
  first.clock.advance(32 * 60_000);
  await first.nodeTasks.runOnce();
  await second.revocations.start();
  assertError(await requestToken(second, bankKey), 401, 'invalid_client');
});

test('a node that may have missed a change checks the database', async () => {
  await tokenOf(second, tenant.bankKey, 'customers:read');
  const ip_allowlist = ['198.35.26.99'];
  // Changed directly in the database, while the second node has no lease.
  await second.revocations.stop();
  await first.database.queries
    .updateTable('applications')
    .set({ ip_allowlist })
    .where('client_id', '=', tenant.bankKey.clientId)
    .execute();
  const claims = decodeJwt(await tokenOf(second, tenant.bankKey, 'customers:read'));
  assert.deepEqual(claims.ip_allowlist, ip_allowlist);
});
