import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { browse, joinTeam, logIn } from '../../../testing/people/dashboard.ts';
import { codesOf } from '../../../testing/people/totp.ts';

/** Rotation of the master key re-encrypts TOTP secrets. */
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);
const testDatabase = await createTestDatabase();
const before = await createTestApp({ testDatabase, environment: { PORTICO_MASTER_KEY: OLD } });
const { clock } = before;
after(() => testDatabase.drop());
const withKeys = (keys: string) =>
  createTestApp({ testDatabase, clock, environment: { PORTICO_MASTER_KEY: keys } });

test('after a rotation one-time passwords work without the old key', async () => {
  const { organizationGuid } = await createTenant(before);
  const person = await joinTeam(before, organizationGuid);
  const { body } = await browse(before, 'POST', '/account/totp', { as: person, payload: {} });
  const code = codesOf(before, body.secret);
  await browse(before, 'POST', '/account/totp/confirm', { as: person, payload: { code: code() } });

  const both = await withKeys(`${NEW},${OLD}`);
  const count = async () => (await both.operate('POST', '/master_key/rotate')).body.reencrypted;
  const signingKeys = await both.database.queries.selectFrom('signing_keys').select('kid').execute();
  assert.equal(await count(), signingKeys.length + 1);
  assert.equal(await count(), 0);
  const alone = await withKeys(NEW);
  clock.advance(60_000);
  assert.equal((await logIn(alone, person, { code: code() })).status, 200);
});
