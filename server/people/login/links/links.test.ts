import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';
import {
  browse,
  browserOf,
  joinTeam,
  logIn,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../../../../testing/people/dashboard.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';

const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const DAY_MS = 24 * 3_600_000;
let people = 0;
const newEmail = () => `linked-${++people}@partner.example`;

async function invite(email = newEmail(), organization = organizationGuid, role = 'viewer') {
  const invited = await app.operate('POST', `/organizations/${organization}/members`, { email, role });
  assert.equal(invited.status, 201, JSON.stringify(invited.body));
  return { email, guid: String(invited.body.guid), token: tokenInLink(invited.body.invitation_link) };
}

async function resetLink(memberGuid: string, options: object = {}): Promise<string> {
  const { status, body } = await app.operate('POST', `/members/${memberGuid}/password_reset`, options);
  assert.equal(status, 200, JSON.stringify(body));
  return tokenInLink(body.link);
}

const inspect = (token: string) => browse(app, 'POST', '/links/inspect', { payload: { token } });
const setPassword = (token: string, password = PASSWORD, more: object = {}) =>
  browse(app, 'POST', '/password', { payload: { token, password, ...more } });
const isGone = (answer: Answer) =>
  assertError(answer, 404, 'not_found', 'This link has expired or was already used. Request a new one');

test('an invitation sets the first password, logs in, and is consumed', async () => {
  const { email, token } = await invite();
  const seen = await inspect(token);
  const purpose = { purpose: 'invitation', organization_name: 'Acme' };
  assert.deepEqual(seen.body, { email, ...purpose });
  const answer = await setPassword(token, PASSWORD, { name: 'Grace' });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal((answer.body.member as { name: string }).name, 'Grace');
  assert.equal((await browse(app, 'GET', '/session', { as: browserOf(answer) })).status, 200);
  isGone(await inspect(token));
  isGone(await setPassword(token));
  assert.equal((await logIn(app, { email, password: PASSWORD })).status, 200);
});

test('an invitation is valid for seven days, a password reset link for one', async () => {
  const { token, guid } = await invite();
  app.clock.advance(7 * DAY_MS - 1);
  assert.equal((await inspect(token)).status, 200);
  app.clock.advance(1);
  isGone(await inspect(token));
  isGone(await setPassword(token));
  const reset = await resetLink(guid);
  assert.equal((await inspect(reset)).body.purpose, 'password_reset');
  app.clock.advance(DAY_MS);
  isGone(await setPassword(reset));
});

test('a weak password does not consume the link', async () => {
  const { token } = await invite();
  assertError(await setPassword(token, 'short'), 422, 'password_too_weak', /12 characters/);
  assertError(await setPassword(token, 'password1234'), 422, 'password_too_weak');
  assert.equal((await setPassword(token)).status, 200);
});

test('of two concurrent uses of a link one succeeds', async () => {
  const { token } = await invite();
  const answers = await Promise.all([setPassword(token), setPassword(token), setPassword(token)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
});

test('a password reset replaces the password and ends every session', async () => {
  const person = await joinTeam(app, organizationGuid);
  const answer = await setPassword(await resetLink(person.memberGuid), 'a brand new password');
  assert.equal(answer.status, 200);
  assertError(await browse(app, 'GET', '/session', { as: person }), 401, 'authentication_failed');
  assert.equal((await browse(app, 'GET', '/session', { as: browserOf(answer) })).status, 200);
  assertError(await logIn(app, person), 401, 'authentication_failed');
});

test('only the newest link is valid, and none after a password change', async () => {
  const person = await joinTeam(app, organizationGuid);
  const [older, newer] = [await resetLink(person.memberGuid), await resetLink(person.memberGuid)];
  isGone(await inspect(older));
  assert.equal((await inspect(newer)).status, 200);
  const payload = { current_password: PASSWORD, new_password: 'a brand new password' };
  assert.equal((await browse(app, 'POST', '/account/password', { as: person, payload })).status, 204);
  isGone(await inspect(newer));
});

test('an invitation does not log in to an existing account', async () => {
  const victim = await joinTeam(app, organizationGuid);
  const attacker = await createTenant(app);
  const { token } = await invite(victim.email, attacker.organizationGuid, 'founder');
  assertError(await setPassword(token, 'a password of the attacker'), 409, 'account_exists');
  assert.equal((await logIn(app, victim)).status, 200, 'the password has not changed');
});

test('neither inspecting an invitation nor a weak password reveals whether the address has an account', async () => {
  const { email } = await joinTeam(app, organizationGuid);
  const elsewhere = await createTenant(app);
  const [known, unknown] = [
    await invite(email, elsewhere.organizationGuid),
    await invite(undefined, elsewhere.organizationGuid),
  ];
  const fieldsOf = async ({ token }: { token: string }) => {
    const { email: _, ...rest } = (await inspect(token)).body;
    return rest;
  };
  assert.deepEqual(await fieldsOf(known), await fieldsOf(unknown));
  for (const { token } of [known, unknown])
    assertError(await setPassword(token, 'weak'), 422, 'password_too_weak');
});

test('a second invitation does not change the password that the first one set', async () => {
  const attacker = await createTenant(app);
  const first = await invite();
  const second = await invite(first.email, attacker.organizationGuid);
  const answers = await Promise.all([
    setPassword(first.token, 'a password of the first'),
    setPassword(second.token, 'a password of the second'),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const organizations = answers
    .filter(({ status }) => status === 200)
    .flatMap(({ body }) => body.organizations as object[]);
  assert.equal(organizations.length, 1, 'the person is only on the team of the first link');
});

test('an invitation to an existing account is accepted only in a session of that account', async () => {
  const [person, other] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const tenant = await createTenant(app);
  const { token } = await invite(person.email, tenant.organizationGuid, 'developer');
  const accept = (as: typeof person) => browse(app, 'POST', '/links/accept', { as, payload: { token } });
  assertError(await accept(other), 404, 'not_found');
  await invite(other.email, tenant.organizationGuid, 'founder');
  assertError(await accept(other), 404, 'not_found', 'This link is not an invitation for your account');
  const { status, body } = await accept(person);
  assert.equal(status, 200, JSON.stringify(body));
  const roles = (body.organizations as { guid: string; role: string }[]).map(({ guid, role }) => [
    guid,
    role,
  ]);
  assert.deepEqual(Object.fromEntries(roles), {
    [organizationGuid]: 'founder',
    [tenant.organizationGuid]: 'developer',
  });
  isGone(await accept(person));
  const reset = await resetLink(person.memberGuid);
  const misused = await browse(app, 'POST', '/links/accept', { as: person, payload: { token: reset } });
  assertError(misused, 404, 'not_found');
  assert.equal((await inspect(reset)).status, 200, 'and does not consume it');
});

/** Blocks changes of the membership until both calls wait, the first one for the membership. */
async function inTurn(memberGuid: string, first: () => Promise<Answer>, second: () => Promise<Answer>) {
  const waiting = (calls: number) =>
    until(async () => (await lockWaits(app.database.reserved)) === calls, 'calls that wait for a lock');
  return app.database
    .maintain((queries) =>
      queries.transaction().execute(async (transaction) => {
        const memberships = transaction.selectFrom('memberships').selectAll();
        await memberships.where('member_guid', '=', memberGuid).forUpdate().execute();
        const begun = [first()];
        await waiting(1);
        begun.push(second());
        await waiting(2);
        return begun;
      }),
    )
    .then((begun) => Promise.all(begun));
}

test('an invitation that is repeated while it is accepted is either accepted or replaced', async () => {
  const { organizationGuid: home } = await createTenant(app);
  const [early, late] = [await joinTeam(app, home), await joinTeam(app, home)];
  const path = `/organizations/${organizationGuid}/members`;
  const callsOf = async (person: Person) => {
    const { token } = await invite(person.email, organizationGuid, 'founder');
    return {
      accept: () => browse(app, 'POST', '/links/accept', { as: person, payload: { token } }),
      repeat: () => app.operate('POST', path, { email: person.email, role: 'viewer' }),
    };
  };
  const before = await callsOf(early);
  const [accepted, known] = await inTurn(early.memberGuid, before.accept, before.repeat);
  assert.equal(accepted?.status, 200);
  assertError(known as Answer, 409, 'member_exists');
  const after = await callsOf(late);
  const [replaced, gone] = await inTurn(late.memberGuid, after.repeat, after.accept);
  assert.equal(replaced?.status, 201);
  isGone(gone as Answer);
  const members = objectsOf(await app.operate('GET', path));
  const shown = [early, late].map(({ memberGuid }) => members.find(({ guid }) => guid === memberGuid));
  assert.deepEqual(
    shown.map((member) => [member?.state, member?.role]),
    [
      ['active', 'founder'],
      ['invited', 'viewer'],
    ],
  );
});

test('removing an invited member invalidates the link', async () => {
  const { token, guid } = await invite();
  const removed = await app.operate('DELETE', `/organizations/${organizationGuid}/members/${guid}`);
  assert.equal(removed.status, 204);
  isGone(await setPassword(token));
});

test('the database stores only hashes of links', async () => {
  const { token } = await invite();
  const rows = await app.database.queries.selectFrom('login_links').selectAll().execute();
  for (const { token_hash: hash } of rows) {
    assert.equal(hash.length, 32);
    assert.ok(!hash.equals(Buffer.from(token, 'base64url')));
  }
  assert.ok(!app.logged.join().includes(token));
  app.clock.advance(8 * DAY_MS);
  await app.login.sweep();
  assert.deepEqual(await app.database.queries.selectFrom('login_links').selectAll().execute(), []);
});

test('the secret of a link is in the URL fragment', async () => {
  const path = `/organizations/${organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email: newEmail(), role: 'viewer' });
  const link = new URL(String(body.invitation_link));
  assert.equal(`${link.origin}${link.pathname}${link.search}`, 'http://localhost:4000/set-password');
});
