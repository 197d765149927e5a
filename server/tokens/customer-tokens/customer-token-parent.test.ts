import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Answer, assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, type Key, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';

/** A customer token obtained with a parent token has no more scopes, and is revoked with it on every node. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: first.clock });
after(() => testDatabase.drop());

const tenant = await createTenant(first);
const customer = await createCustomer(first, tenant.bankGuid);
const MINTING = 'customers:read customers:write';

const mint = (token: string, ...scopes: string[]) =>
  first.call({
    method: 'POST',
    url: '/api/customer_tokens',
    token,
    payload: { customer_guid: customer, scopes },
  });
const issued = (answer: Answer) => {
  assert.ok(answer.status === 201 || answer.status === 200, JSON.stringify(answer.body));
  return String(answer.body.access_token);
};
const use = (app: TestApp, token: string) => app.call({ url: '/api/customers', token });
const oauth = (path: string, { clientId, secret }: Key, fields: object) =>
  first.call({
    method: 'POST',
    url: `/oauth/${path}`,
    payload: { client_id: clientId, client_secret: secret, ...fields },
  });
const isActive = async (token: string) =>
  (await oauth('introspect', tenant.bankKey, { token })).body.active === true;

/** Called twice, so that each node caches the token. */
async function assertValid(...tokens: string[]): Promise<void> {
  for (const token of tokens) {
    for (const app of [first, second, first, second]) assert.equal((await use(app, token)).status, 200);
    assert.equal(await isActive(token), true);
  }
}

async function assertRevoked(...tokens: string[]): Promise<void> {
  for (const token of tokens) {
    for (const app of [first, second]) assertError(await use(app, token), 401, 'authentication_failed');
    assert.equal(await isActive(token), false);
  }
}

test('a scope that the parent token lacks is refused by name, even if the key holds it', async () => {
  for (const key of [tenant.bankKey, tenant.organizationKey]) {
    const narrow = await tokenOf(first, key, MINTING);
    const message = 'Your token must hold the scope transfers:execute to grant it';
    assertError(await mint(narrow, 'customers:read', 'transfers:execute'), 400, 'invalid_scope', message);
    assert.equal(decodeJwt(issued(await mint(narrow, 'customers:read'))).scope, 'customers:read');
    const wide = await tokenOf(first, key, `${MINTING} transfers:execute`);
    assert.equal((await mint(wide, 'customers:read', 'transfers:execute')).status, 201);
  }
});

test('a scope that the key has lost since the parent was issued is refused too', async () => {
  const path = `/banks/${tenant.bankGuid}/applications`;
  const key = await createKey(first, path, { name: 'Edited' });
  const parent = await tokenOf(first, key, `${MINTING} trades:read`);
  const edit = await first.call({
    method: 'PATCH',
    url: `/api/bank_applications/${key.clientId}`,
    token: await userToken(first, tenant.organizationGuid),
    payload: { scopes: MINTING.split(' ') },
  });
  assert.equal(edit.status, 200);
  assertError(
    await mint(parent, 'trades:read'),
    400,
    'invalid_scope',
    'This key does not hold the scope trades:read',
  );
});

test('revoking the parent revokes its customer tokens on both nodes, and no others', async () => {
  const [parent, other] = [
    await tokenOf(first, tenant.bankKey, MINTING),
    await tokenOf(first, tenant.bankKey, MINTING),
  ];
  const children = [
    issued(await mint(parent, 'customers:read')),
    issued(await mint(parent, 'customers:read')),
  ];
  const kept = issued(await mint(other, 'customers:read'));
  assert.equal(decodeJwt(children[0] ?? '').parent_jti, decodeJwt(parent).jti);
  await assertValid(...children, kept);
  assert.equal((await oauth('revoke', tenant.bankKey, { token: parent })).status, 200);
  await assertRevoked(...children);
  await assertValid(kept, other);
});

test('a node without a lease also refuses a customer token of a revoked parent', async () => {
  const parent = await tokenOf(first, tenant.bankKey, MINTING);
  const child = issued(await mint(parent, 'customers:read'));
  assert.equal((await oauth('revoke', tenant.bankKey, { token: parent })).status, 200);
  const late = await createTestApp({ testDatabase, clock: first.clock });
  await late.revocations.stop();
  assertError(await use(late, child), 401, 'authentication_failed');
});

test('removing the key pair revokes customer tokens of both kinds', async () => {
  const key = await createKey(first, `/banks/${tenant.bankGuid}/applications`, { name: 'Old' });
  const grant = { grant_type: 'client_credentials', customer_guid: customer, scope: 'customers:read' };
  const tokens = [
    issued(await mint(await tokenOf(first, key, MINTING), 'customers:read')),
    issued(await oauth('customer_token', key, grant)),
  ];
  assert.ok(!('parent_jti' in decodeJwt(tokens[1] ?? '')));
  await assertValid(...tokens);
  const removed = await first.call({
    method: 'DELETE',
    url: `/api/bank_applications/${key.clientId}`,
    token: await userToken(first, tenant.organizationGuid),
  });
  assert.equal(removed.status, 204);
  await assertRevoked(...tokens);
});

test('a customer token expires with its parent, as its exp claim shows', async () => {
  const parent = await tokenOf(first, tenant.bankKey, MINTING);
  first.clock.advance(1_000_000);
  const answer = await mint(parent, 'customers:read');
  assert.equal(answer.body.expires_in, 800);
  assert.equal(decodeJwt(issued(answer)).exp, decodeJwt(parent).exp);
  first.clock.advance(799_999);
  assert.equal((await use(first, issued(answer))).status, 200);
  first.clock.advance(1);
  assertError(await use(first, issued(answer)), 401, 'authentication_failed', 'Signature has expired');
});

test('a parent that expires while the body is read gets no token', async () => {
  const parent = await tokenOf(first, tenant.bankKey, MINTING);
  assert.equal((await use(first, parent)).status, 200);
  async function* slowly() {
    yield '{';
    first.clock.set(new Date((decodeJwt(parent).exp ?? 0) * 1_000));
    yield `"customer_guid":"${customer}","scopes":["customers:read"]}`;
  }
  const answer = await first.call({
    method: 'POST',
    url: '/api/customer_tokens',
    token: parent,
    headers: { 'content-type': 'application/json' },
    payload: Readable.from(slowly()),
  });
  assertError(answer, 401, 'authentication_failed', 'Signature has expired');
});
