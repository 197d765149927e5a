import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant, type Key, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createEncryption } from '../../infrastructure/runtime/encryption.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';

/** Rotation of the master key: the new key is added first, secrets are re-encrypted, the old key is removed. */
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);
const testDatabase = await createTestDatabase();
const before = await createTestApp({ testDatabase, environment: { PORTICO_MASTER_KEY: OLD } });
const { clock } = before;
after(() => testDatabase.drop());

const withKeys = (keys: string) =>
  createTestApp({ testDatabase, clock, environment: { PORTICO_MASTER_KEY: keys } });
const { organizationKey: used, bankKey: unused } = await createTenant(before);
const token = await tokenOf(before, used, 'customers:read');
const both = await withKeys(`${NEW},${OLD}`);

const ask = (app: TestApp, { clientId, secret }: Key) =>
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
const use = (app: TestApp) => app.call({ url: '/api/customers', token });
const signingKey = () =>
  before.database.queries.selectFrom('signing_keys').selectAll().executeTakeFirstOrThrow();

test('private keys and client secrets are not in the database in plain text', async () => {
  const row = await signingKey();
  const encryption = createEncryption({ masterKeys: [new Secret(OLD)], randomBytes });
  const { d } = JSON.parse(encryption.decrypt(row.private_jwk_encrypted, `signing_key:${row.kid}`));
  // With the start of its value: the three bytes of `"d"` alone may occur in random ones.
  const hidden = [d, Buffer.from(d, 'base64url'), '"d":"', used.secret, used.secret.slice(11, 54)];
  for (const table of ['signing_keys', 'applications', 'audit_records'] as const) {
    const rows = await before.database.queries.selectFrom(table).selectAll().execute();
    assert.ok(rows.length > 0);
    for (const value of rows.flatMap((stored) => Object.values(stored))) {
      const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
      for (const secret of hidden) assert.ok(!bytes.includes(secret), table);
    }
  }
});

test('with a new master key everything works, and rotation re-encrypts the signing keys', async () => {
  assert.equal((await use(both)).status, 200);
  const { kid, private_jwk_encrypted: stored } = await signingKey();
  const { status, body } = await both.operate('POST', '/master_key/rotate');
  assert.equal(status, 200);
  const expected = createEncryption({ masterKeys: [new Secret(NEW)], randomBytes });
  const report = { key_id: expected.currentKeyId, reencrypted: 1, client_secrets_under_older_keys: 2 };
  assert.deepEqual(body, report);
  const { private_jwk_encrypted: moved } = await signingKey();
  assert.ok(!moved.equals(stored));
  assert.ok(JSON.parse(expected.decrypt(moved, `signing_key:${kid}`)).d);
  const again = await both.operate('POST', '/master_key/rotate');
  assert.deepEqual(again.body, { ...report, reencrypted: 0 });
});

test('a client secret is rehashed with the new key on its next correct use', async () => {
  assertError(await ask(both, { ...used, secret: `${used.secret}x` }), 401, 'invalid_client');
  const outdated = async () =>
    (await both.operate('POST', '/master_key/rotate')).body.client_secrets_under_older_keys;
  assert.equal(await outdated(), 2);
  assert.equal((await ask(both, used)).status, 200);
  assert.equal(await outdated(), 1);
  assert.equal((await ask(both, used)).status, 200);
  assertError(await ask(both, { ...used, secret: `${used.secret}x` }), 401, 'invalid_client');
});

test('without the old key, tokens and rehashed secrets work, and others are refused without an internal error', async () => {
  const alone = await withKeys(NEW);
  assert.equal((await use(alone)).status, 200);
  assert.equal((await ask(alone, used)).status, 200);
  const refused = await ask(alone, unused);
  assertError(refused, 401, 'invalid_client');
  assert.deepEqual(refused.body, (await ask(alone, { ...used, secret: 'x' })).body);
});

test('a node with a wrong master key signs and verifies nothing', async () => {
  const stranger = await withKeys('c3'.repeat(32));
  assertError(await use(stranger), 500, 'internal_error');
  assertError(await ask(stranger, used), 401, 'invalid_client');
});
