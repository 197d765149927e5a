import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, type Key, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';

/** Revocation of single tokens, and of all tokens of a removed key pair, on every node. */
const testDatabase = await createTestDatabase();
const environment = {
  PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '100000',
  PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '100000',
};
const first = await createTestApp({ testDatabase, environment });
const second = await createTestApp({ testDatabase, environment, clock: first.clock });
after(() => testDatabase.drop());
const nodes = [first, second];

const tenant = await createTenant(first);
const founder = () => userToken(first, tenant.organizationGuid);

const use = (app: TestApp, token: string) => app.call({ url: '/api/customers', token });
const revoke = ({ clientId, secret }: Key, token: string, at = first) =>
  at.call({
    method: 'POST',
    url: '/oauth/revoke',
    payload: { client_id: clientId, client_secret: secret, token },
  });
const remove = async (key: Key, kind: 'bank' | 'organization', at = first) =>
  at.call({
    method: 'DELETE',
    url: `/api/${kind}_applications/${key.clientId}`,
    token: await founder(),
  });

/** Called twice on each node, so that each caches the token. */
async function assertValid(...tokens: string[]): Promise<void> {
  for (const token of tokens)
    for (const app of [...nodes, ...nodes]) assert.equal((await use(app, token)).status, 200);
}

async function assertRevoked(...tokens: string[]): Promise<void> {
  for (const token of tokens)
    for (const app of [...nodes, ...nodes])
      assertError(await use(app, token), 401, 'authentication_failed', 'The access token is not valid');
}

async function customerTokenOf(key: Key): Promise<string> {
  const guid = crypto.randomUUID().replaceAll('-', '');
  const report = { bank_guid: tenant.bankGuid, details: { type: 'individual' } };
  await first.operate('PUT', `/objects/customer/${guid}`, report);
  const token = await tokenOf(first, key, 'customers:read customers:write');
  const payload = { customer_guid: guid, scopes: ['customers:read'] };
  const { status, body } = await first.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
  assert.equal(status, 201);
  return String(body.access_token);
}

test('a revoked token is refused on both nodes once the call returns, others are not', async () => {
  const [gone, kept] = [
    await tokenOf(first, tenant.bankKey, 'customers:read'),
    await tokenOf(first, tenant.bankKey, 'customers:read'),
  ];
  await assertValid(gone, kept);
  const answer = await revoke(tenant.bankKey, gone);
  assert.deepEqual([answer.status, answer.body], [200, {}]);
  await assertRevoked(gone);
  await assertValid(kept, await tokenOf(first, tenant.organizationKey, 'customers:read'));
});

test('a revoked token is refused on a node that never saw it, and on one that starts later', async () => {
  const token = await tokenOf(first, tenant.bankKey, 'customers:read');
  await revoke(tenant.bankKey, token, second);
  await assertRevoked(token);
  const late = await createTestApp({ testDatabase, environment, clock: first.clock });
  assertError(await use(late, token), 401, 'authentication_failed');
});

test('a revocation is in the audit log under the client that requested it', async () => {
  const key = tenant.bankKey;
  const token = await tokenOf(first, key, 'customers:read');
  assert.equal((await revoke(key, token)).status, 200);
  const query = `actor=${key.clientId}&action=token.revoke&object_id=${decodeJwt(token).jti}`;
  const { body } = await first.operate('GET', `/audit_records?${query}`);
  assert.equal(body.total, 1, JSON.stringify(body));
});

test('revoking an invalid token succeeds without a change (RFC 7009, section 2.2)', async () => {
  const token = await tokenOf(first, tenant.bankKey, 'customers:read');
  const known = async () =>
    (await first.database.queries.selectFrom('revocations').select('revision').execute()).length;
  await revoke(tenant.bankKey, token);
  const before = await known();
  for (const nothing of [token, 'x', '', 'a.b.c', `${token}x`])
    assert.equal((await revoke(tenant.bankKey, nothing)).status, 200);
  assert.equal(await known(), before);
});

test('a client can revoke only its own tokens, and no user tokens', async () => {
  const token = await tokenOf(first, tenant.bankKey, 'customers:read');
  const person = await founder();
  for (const foreign of [token, person])
    assertError(await revoke(tenant.organizationKey, foreign), 400, 'invalid_request');
  assertError(await revoke({ ...tenant.bankKey, secret: 'x' }, token), 401, 'invalid_client');
  await assertValid(token, person);
});

test('a client revokes the customer tokens that it was issued', async () => {
  const token = await customerTokenOf(tenant.bankKey);
  await assertValid(token);
  assert.equal((await revoke(tenant.bankKey, token)).status, 200);
  await assertRevoked(token);
});

test('removing a key pair revokes all its tokens on both nodes, customer tokens included, and no others', async () => {
  for (const [kind, path] of [
    ['bank', `/banks/${tenant.bankGuid}/applications`],
    ['organization', `/organizations/${tenant.organizationGuid}/applications`],
  ] as const) {
    const key = await createKey(first, path, { name: 'Old' });
    const tokens = await Promise.all([1, 2, 3].map(() => tokenOf(first, key, 'customers:read')));
    const customerToken = await customerTokenOf(key);
    const kept = await tokenOf(first, tenant.bankKey, 'customers:read');
    await assertValid(...tokens, customerToken, kept);
    assert.equal((await remove(key, kind, second)).status, 204);
    await assertRevoked(...tokens, customerToken);
    await assertValid(kept);
    const { clientId: client_id, secret: client_secret } = key;
    const payload = { grant_type: 'client_credentials', client_id, client_secret, scope: 'trades:read' };
    for (const app of nodes)
      assertError(await app.call({ method: 'POST', url: '/oauth/token', payload }), 401, 'invalid_client');
  }
});

test('concurrent revocations all reach both nodes, in order', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 40 }, () => tokenOf(first, tenant.bankKey, 'customers:read')),
  );
  const kept = await tokenOf(first, tenant.bankKey, 'customers:read');
  await Promise.all(
    tokens.map(async (token, index) => {
      assert.equal((await revoke(tenant.bankKey, token, nodes[index % 2])).status, 200);
      // Checked while the other revocations are in progress.
      for (const app of nodes) assertError(await use(app, token), 401, 'authentication_failed');
    }),
  );
  await assertRevoked(...tokens);
  await assertValid(kept);
});

test('the sweep deletes revocations an hour after their expiry, and no others: its clock may be ahead', async () => {
  const token = await tokenOf(first, tenant.bankKey, 'customers:read');
  await revoke(tenant.bankKey, token);
  const { sub = '', jti = '', exp = 0 } = decodeJwt(token);
  const stored = () =>
    first.database.queries.selectFrom('revocations').select('subject').where('subject', '=', jti).execute();
  first.clock.set(new Date(exp * 1_000 - 1));
  await first.nodeTasks.runOnce();
  assert.equal((await stored()).length, 1);
  assertError(await use(first, token), 401, 'authentication_failed', 'The access token is not valid');
  first.clock.advance(3_600_000);
  for (const app of nodes) await app.nodeTasks.runOnce();
  assert.equal((await stored()).length, 1);
  // Revocations cover tokens signed up to a minute later.
  first.clock.advance(61_001);
  for (const app of nodes) await app.nodeTasks.runOnce();
  assert.equal((await stored()).length, 0);
  // Another revocation renews the lease, so that the check is synchronous.
  await revoke(tenant.bankKey, await tokenOf(first, tenant.bankKey, 'customers:read'));
  assert.equal(first.revocations.isRevoked([sub, jti]), false);
  assertError(await use(first, token), 401, 'authentication_failed', 'Signature has expired');
});

test('a token that was being signed while its key pair was removed is never accepted', async () => {
  const key = await createKey(first, `/banks/${tenant.bankGuid}/applications`, { name: 'Old' });
  assert.equal((await remove(key, 'bank')).status, 204);
  first.clock.advance(2_000);
  const late = await first.issuer.issue({
    tokenType: 'bank',
    subject: key.clientId,
    organizationGuid: tenant.organizationGuid,
    bankGuid: tenant.bankGuid,
    environment: 'sandbox',
    scopes: ['customers:read'],
  });
  await assertRevoked(late.access_token);
  first.clock.set(new Date((decodeJwt(late.access_token).exp ?? 0) * 1_000 - 1));
  for (const app of nodes) await app.nodeTasks.runOnce();
  await assertRevoked(late.access_token);
});
