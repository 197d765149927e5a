import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';

/** Signing keys: created once, kept over restarts, rotated with an overlap. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const { clock } = first;
const second = await createTestApp({ testDatabase, clock });
const nodes = [first, second];
after(() => testDatabase.drop());
const { bankKey } = await createTenant(first);

const newToken = (app: TestApp) => tokenOf(app, bankKey, 'customers:read');
const kidOf = (token: string) => String(decodeProtectedHeader(token).kid);
const publishedBy = async (app: TestApp) => {
  const { body, headers } = await app.call({ url: '/.well-known/jwks.json' });
  assert.equal(headers['cache-control'], 'public, max-age=300');
  return (body.keys as JWK[]).map((key) => key.kid);
};
const storedKids = async () =>
  (await first.database.queries.selectFrom('signing_keys').select('kid').orderBy('signs_from').execute()).map(
    ({ kid }) => kid,
  );
async function assertVerifiedBy(app: TestApp, token: string): Promise<void> {
  const { status, body } = await app.call({ url: '/api/customers', token });
  assert.equal(status, 200, JSON.stringify(body));
}

test('the first key is created once, even if several nodes start concurrently', async () => {
  const more = await Promise.all(Array.from({ length: 3 }, () => createTestApp({ testDatabase, clock })));
  const all = [...nodes, ...more];
  assert.deepEqual(await storedKids(), []);
  const tokens = await Promise.all(all.flatMap((app) => [newToken(app), newToken(app)]));
  const kids = await storedKids();
  assert.equal(kids.length, 1);
  assert.deepEqual([...new Set(tokens.map(kidOf))], kids);
  for (const app of all) for (const token of tokens) await assertVerifiedBy(app, token);
});

test('after a restart the same key signs, and earlier tokens are valid', async () => {
  const before = await newToken(first);
  const restarted = await createTestApp({ testDatabase, clock });
  await assertVerifiedBy(restarted, before);
  const after = await newToken(restarted);
  assert.equal(kidOf(after), kidOf(before));
  await assertVerifiedBy(first, after);
});

test('only public keys are published', async () => {
  const { body } = await first.call({ url: '/.well-known/jwks.json' });
  assert.deepEqual(Object.keys(body), ['keys']);
  for (const key of body.keys as JWK[]) {
    assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    assert.deepEqual([key.kty, key.crv, key.alg, key.use], ['EC', 'P-256', 'ES256', 'sig']);
  }
});

test('a new key is published at once and signs after ten minutes; the old one stays until its last token expires', async () => {
  const [old = ''] = await storedKids();
  const rotatedAt = clock.now().getTime();
  const rotated = await first.operate('POST', '/signing_keys/rotate');
  assert.equal(rotated.status, 200);
  const fresh = String(rotated.body.kid);
  const signsFrom = rotatedAt + 600_000;
  assert.equal(rotated.body.signs_from, new Date(signsFrom).toISOString());
  assert.deepEqual(await publishedBy(first), [old, fresh]);
  clock.advance(60_000);
  assert.deepEqual(await publishedBy(second), [old, fresh]);

  clock.set(new Date(signsFrom - 1));
  const last = await newToken(second);
  for (const app of nodes) assert.equal(kidOf(await newToken(app)), old);
  clock.set(new Date(signsFrom));
  for (const app of nodes) {
    const token = await newToken(app);
    assert.equal(kidOf(token), fresh);
    for (const verifying of nodes) await assertVerifiedBy(verifying, token);
  }

  clock.set(new Date(Number(decodeJwt(last).exp) * 1_000 - 1));
  await first.nodeTasks.runOnce();
  for (const app of nodes) await assertVerifiedBy(app, last);
  clock.set(new Date(signsFrom + 1_800_000 - 1));
  for (const app of nodes) assert.deepEqual(await publishedBy(app), [old, fresh]);
  clock.advance(1);
  for (const app of nodes) assert.deepEqual(await publishedBy(app), [fresh]);
  clock.advance(3_600_000 - 1);
  await first.nodeTasks.runOnce();
  assert.deepEqual(await storedKids(), [old, fresh], 'the node may be ahead of others');
  clock.advance(1);
  await first.nodeTasks.runOnce();
  assert.deepEqual(await storedKids(), [fresh]);
  for (const app of nodes) await assertVerifiedBy(app, await newToken(app));
});

test('a node loads a new key when it verifies its first token', async () => {
  await newToken(second);
  const rotated = await first.operate('POST', '/signing_keys/rotate');
  clock.advance(600_000);
  const token = await newToken(first);
  assert.equal(kidOf(token), rotated.body.kid);
  await assertVerifiedBy(second, token);
});

test('one rotation at a time over all nodes, and each is in the audit log', async () => {
  const answers = await Promise.all(
    [first, second, first, second].map((app) => app.operate('POST', '/signing_keys/rotate')),
  );
  const done = answers.filter(({ status }) => status === 200);
  assert.equal(done.length, 1);
  for (const answer of answers)
    if (answer !== done[0]) assertError(answer, 409, 'rotation_pending', /is already published/);
  clock.advance(599_999);
  assertError(await second.operate('POST', '/signing_keys/rotate'), 409, 'rotation_pending');
  clock.advance(1);
  assert.equal((await second.operate('POST', '/signing_keys/rotate')).status, 200);
  const records = await first.database.queries
    .selectFrom('audit_records')
    .select(['object_id', 'actor_type'])
    .where('action', '=', 'signing_key.rotate')
    .execute();
  assert.equal(records.length, 4);
  assert.ok(records.some(({ object_id }) => object_id === done[0]?.body.kid));
});
