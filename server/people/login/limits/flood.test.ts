import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { fastPasswordHasher } from '../../../../testing/app/password-hasher.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { browse, joinTeam, logIn, PASSWORD, tokenInLink } from '../../../../testing/people/dashboard.ts';
import type { PasswordHasher } from '../passwords/passwords.ts';

/** More logins than the queue holds, each for another address and from another network. */
const FLOOD = 180;
const OFFICE = '198.35.26.10';
const SAME_NETWORK = '198.35.26.200';
/** Passwords wait for it: the queue fills, however slowly logins arrive. */
let gate = Promise.resolve();
const gatedHasher: PasswordHasher = {
  ...fastPasswordHasher,
  async verify(...given) {
    await gate;
    return fastPasswordHasher.verify(...given);
  },
};

test('a flood of logins from many networks delays neither sessions, links nor known networks', async () => {
  const app = await createTestApp({ passwordHasher: gatedHasher });
  const { organizationGuid } = await createTenant(app);
  const [loggedIn, atOffice] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  assert.equal((await logIn(app, atOffice, { remoteAddress: OFFICE })).status, 200);
  const path = `/organizations/${organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email: 'invited@acme.test', role: 'viewer' });
  const token = tokenInLink(invited.body.invitation_link);

  const { promise: closed, resolve: open } = Promise.withResolvers<void>();
  gate = closed;
  const flood = Array.from({ length: FLOOD }, (_, index) =>
    logIn(app, { email: `guess-${index}@acme.test`, password: 'x' }, { remoteAddress: `203.${index}.7.1` }),
  );
  const proof = { as: loggedIn, payload: { password: PASSWORD } };
  const serving = [
    browse(app, 'POST', '/account/proof/password', proof),
    logIn(app, atOffice, { remoteAddress: SAME_NETWORK }),
    browse(app, 'POST', '/password', { payload: { token, password: PASSWORD } }),
  ];
  assert.equal((await Promise.race(flood)).status, 503, 'no password was checked, so the first is a refusal');
  open();
  const served = await Promise.all(serving);
  assert.deepEqual(
    served.map(({ status }) => status),
    [204, 200, 200],
  );
  const answers = await Promise.all(flood);
  const refused = answers.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0, 'the queue for unknown networks was full');
  for (const { headers, body } of refused)
    assert.deepEqual([headers['retry-after'], body.message_code], ['2', 'overloaded']);
});

test('a flood of invalid session cookies from one network does not delay another network', async () => {
  const app = await createTestApp();
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid);
  const flood = Array.from({ length: FLOOD }, (_, index) =>
    browse(app, 'GET', '/session', {
      as: { ...person, cookie: `${person.cookie.split('=', 1)}=${'A'.repeat(40)}${100 + index}` },
      remoteAddress: '203.0.113.7',
    }),
  );
  const served = await browse(app, 'GET', '/session', { as: person, remoteAddress: OFFICE });
  assert.equal(served.status, 200);
  const answers = await Promise.all(flood);
  const counts = Map.groupBy(answers, ({ status }) => status);
  assert.deepEqual(new Set(counts.keys()), new Set([401, 503]));
  assert.equal(counts.get(503)?.[0]?.headers['retry-after'], '1');
});

test('a network is known for 90 days, at most ten per member', async () => {
  const app = await createTestApp();
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid);
  const networks = async () => {
    const rows = await app.database.queries
      .selectFrom('login_networks')
      .select('network')
      .where('member_guid', '=', person.memberGuid)
      .orderBy('used_at')
      .execute();
    return rows.map(({ network }) => network);
  };
  const from = async (remoteAddress: string) => {
    app.clock.advance(60_000);
    assert.equal((await logIn(app, person, { remoteAddress })).status, 200);
  };
  await from(OFFICE);
  await from(SAME_NETWORK);
  assert.deepEqual(await networks(), ['7f0000/24', 'c6231a/24']);
  await from('2001:4860:1:2::1');
  await from('2001:4860:1:3::1');
  assert.deepEqual((await networks()).slice(-1), ['200148600001/48']);
  for (let index = 0; index < 9; index += 1) await from(`203.${index}.7.1`);
  const kept = await networks();
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [10, '200148600001/48', 'cb0807/24']);

  app.clock.advance(90 * 24 * 3_600_000);
  await app.login.sweep();
  assert.deepEqual(await networks(), []);
});
