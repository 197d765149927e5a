import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createSubscription, setMoments } from '../../../testing/webhooks/subscriptions.ts';

/** Rotation of the master key re-encrypts every signing key. */
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);
const testDatabase = await createTestDatabase();
const before = await createTestApp({ testDatabase, environment: { PORTICO_MASTER_KEY: OLD } });
after(() => testDatabase.drop());
const withKeys = (keys: string) =>
  createTestApp({ testDatabase, clock: before.clock, environment: { PORTICO_MASTER_KEY: keys } });

const tenant = await createTenant(before);
const created = [await createSubscription(before, tenant), await createSubscription(before, tenant)];
await setMoments(before, created[1]?.guid ?? '', { deleted_at: before.clock.now() });
const guids = created.map(({ guid }) => guid);
const keysSeenBy = async (app: TestApp) =>
  (await app.subscriptions.endpoints(guids)).map(({ signingKey }) => signingKey().reveal());
const keys = created.map(({ signing_key: key }) => key);

/** More keys than one statement updates. */
async function insertMany(count: number): Promise<number> {
  const { queries } = before.database;
  const row = await queries.selectFrom('subscriptions').selectAll().limit(1).executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, () => {
    const guid = before.guids.next();
    return { ...row, guid, signing_key_encrypted: before.encryption.encrypt('x', `subscription:${guid}`) };
  });
  await queries.insertInto('subscriptions').values(rows).execute();
  return count;
}
const both = await withKeys(`${NEW},${OLD}`);

test('an undecryptable key fails the whole rotation, so that its master key is kept', async () => {
  const { guid } = await createSubscription(before, tenant);
  const ofSubscription = <T>(query: { where(name: 'guid', is: '=', guid: string): T }) =>
    query.where('guid', '=', guid);
  const { queries } = before.database;
  await ofSubscription(
    queries.updateTable('subscriptions').set({ signing_key_encrypted: randomBytes(100) }),
  ).execute();
  assertError(await both.operate('POST', '/master_key/rotate'), 500, 'internal_error');
  assert.deepEqual(await keysSeenBy(await withKeys(OLD)), keys, 'the others were not moved');
  await ofSubscription(queries.deleteFrom('subscriptions')).execute();
});

test('rotation re-encrypts every key once, including keys of ended subscriptions', async () => {
  assert.deepEqual(await keysSeenBy(both), keys);
  const more = await insertMany(600);
  const { status, body } = await both.operate('POST', '/master_key/rotate');
  assert.deepEqual([status, body.reencrypted], [200, 2 + more + 1], 'and the key that signs tokens');
  const again = await both.operate('POST', '/master_key/rotate');
  assert.equal(again.body.reencrypted, 0);
});

test('after the rotation the old master key decrypts nothing', async () => {
  assert.deepEqual(await keysSeenBy(await withKeys(NEW)), keys);
  await assert.rejects(keysSeenBy(await withKeys(OLD)), /not configured/);
});
