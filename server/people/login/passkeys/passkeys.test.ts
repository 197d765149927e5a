import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { removedFactorsOf } from '../../../../testing/people/alerts.ts';
import { type Authenticator, createAuthenticator } from '../../../../testing/people/authenticator.ts';
import {
  type Browser,
  browse,
  browserOf,
  joinTeam,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../../../../testing/people/dashboard.ts';

const environment = { PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000' };
const app = await createTestApp({ environment });
const { organizationGuid } = await createTenant(app);
const CHALLENGE_MS = 5 * 60_000;

type Options = { challenge: string; challenge_id: string } & Record<string, unknown>;
type Wrong = Parameters<Authenticator['get']>[1];

async function registrationOptions(as: Browser): Promise<Options> {
  const { status, body } = await browse(app, 'POST', '/account/passkeys/options', { as, payload: {} });
  assert.equal(status, 200, JSON.stringify(body));
  return body as Options;
}

async function loginOptions(): Promise<Options> {
  const { status, body } = await browse(app, 'POST', '/passkey_login/options', { payload: {} });
  assert.equal(status, 200, JSON.stringify(body));
  return body as Options;
}

const register = (as: Browser, response: object, name = 'Laptop') =>
  browse(app, 'POST', '/account/passkeys', { as, payload: { name, response } });

const enter = ({ challenge_id }: Options, response: object) =>
  browse(app, 'POST', '/passkey_login', { payload: { challenge_id, response } });

async function withPasskey(): Promise<{ person: Person; authenticator: Authenticator; guid: string }> {
  const person = await joinTeam(app, organizationGuid);
  const authenticator = createAuthenticator();
  const { status, body } = await register(person, authenticator.create(await registrationOptions(person)));
  assert.equal(status, 201, JSON.stringify(body));
  return { person, authenticator, guid: String(body.guid) };
}

const isRefused = (answer: Answer) => {
  assertError(answer, 401, 'authentication_failed');
  assert.equal(answer.headers['set-cookie'], undefined);
};

test('a passkey is registered, listed, used to log in and removed', async () => {
  const { person, authenticator, guid } = await withPasskey();
  const list = async () => objectsOf(await browse(app, 'GET', '/account/passkeys', { as: person }));
  const created_at = app.clock.now().toISOString();
  assert.deepEqual(await list(), [{ guid, name: 'Laptop', created_at }]);

  app.clock.advance(1_000);
  const options = await loginOptions();
  const answer = await enter(options, authenticator.get(options));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const { member } = answer.body as { member: { guid: string; passkey_count: number } };
  assert.deepEqual([member.guid, member.passkey_count], [person.memberGuid, 1]);
  assert.equal((await browse(app, 'GET', '/session', { as: browserOf(answer) })).status, 200);
  assert.deepEqual(await list(), [
    { guid, name: 'Laptop', created_at, last_used_at: app.clock.now().toISOString() },
  ]);

  const removed = () => removedFactorsOf(app, organizationGuid, person.memberGuid);
  assert.deepEqual(await removed(), []);
  assert.equal((await browse(app, 'DELETE', `/account/passkeys/${guid}`, { as: person })).status, 204);
  assert.deepEqual(await list(), []);
  assert.deepEqual(await removed(), ['passkey'], 'an alert');
  const next = await loginOptions();
  isRefused(await enter(next, authenticator.get(next)));
});

test('the options require user verification for this relying party', async () => {
  const person = await joinTeam(app, organizationGuid);
  const creation = await registrationOptions(person);
  assert.deepEqual(creation.rp, { name: 'Portico', id: 'localhost' });
  const selection = creation.authenticatorSelection as Record<string, unknown>;
  assert.deepEqual([selection.residentKey, selection.userVerification], ['required', 'required']);
  const request = await loginOptions();
  assert.deepEqual([request.rpId, request.userVerification], ['localhost', 'required']);
  assert.notEqual(request.challenge, (await loginOptions()).challenge);
});

const WRONG: Record<string, Wrong> = {
  'from another origin': { origin: 'https://evil.example' },
  'for another address': { rpId: 'evil.example' },
  'over another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
  'of another ceremony': { type: 'webauthn.create' },
  'without user verification': { userVerified: false },
  'by another key': { signWith: createAuthenticator() },
};

for (const [what, wrong] of Object.entries(WRONG))
  test(`a signature ${what} is refused, and the challenge is consumed`, async () => {
    const { authenticator } = await withPasskey();
    const options = await loginOptions();
    isRefused(await enter(options, authenticator.get(options, wrong)));
    isRefused(await enter(options, authenticator.get(options)));
    const next = await loginOptions();
    assert.equal((await enter(next, authenticator.get(next))).status, 200, 'a valid signature passes');
  });

test('an invalid registration is refused', async () => {
  const person = await joinTeam(app, organizationGuid);
  for (const [what, wrong] of Object.entries(WRONG)) {
    if (wrong?.signWith) continue;
    const options = await registrationOptions(person);
    const type = wrong?.type ? { type: 'webauthn.get' } : {};
    const response = createAuthenticator().create(options, { ...wrong, ...type });
    const answer = await register(person, response);
    assertError(answer, 422, 'passkey_invalid');
    assert.equal((await browse(app, 'GET', '/session', { as: person })).status, 200, what);
  }
  assert.deepEqual(objectsOf(await browse(app, 'GET', '/account/passkeys', { as: person })), []);
});

test('an authenticator whose counter decreases is refused as a clone', async () => {
  const { authenticator } = await withPasskey();
  const first = await loginOptions();
  assert.equal((await enter(first, authenticator.get(first, { counter: 7 }))).status, 200);
  for (const counter of [7, 6, 1]) {
    const options = await loginOptions();
    isRefused(await enter(options, authenticator.get(options, { counter })));
  }
  const next = await loginOptions();
  assert.equal((await enter(next, authenticator.get(next, { counter: 8 }))).status, 200);
});

test('a challenge is valid once within five minutes, for its purpose and member', async () => {
  const { authenticator } = await withPasskey();
  const late = await loginOptions();
  app.clock.advance(CHALLENGE_MS);
  isRefused(await enter(late, authenticator.get(late)));

  const once = await loginOptions();
  const response = authenticator.get(once);
  const answers = await Promise.all([enter(once, response), enter(once, response)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);

  const again = await loginOptions();
  const here = browserOf(await enter(again, authenticator.get(again)));
  const [mine, other] = [await registrationOptions(here), await joinTeam(app, organizationGuid)];
  assertError(await register(other, createAuthenticator().create(mine)), 422, 'passkey_invalid');
  const login = await loginOptions();
  assertError(await register(here, createAuthenticator().create(login)), 422, 'passkey_invalid');
  assert.equal((await register(here, createAuthenticator().create(mine))).status, 201);
  assertError(await register(here, createAuthenticator().create(mine)), 422, 'passkey_invalid');
});

test('the database stores only hashes of challenges, and expired ones are swept', async () => {
  const { challenge } = await loginOptions();
  const rows = await app.database.queries.selectFrom('passkey_challenges').selectAll().execute();
  assert.ok(rows.length > 0);
  for (const { challenge_hash: hash } of rows) assert.ok(!hash.equals(Buffer.from(challenge, 'base64url')));
  app.clock.advance(CHALLENGE_MS);
  await app.login.sweep();
  assert.deepEqual(await app.database.queries.selectFrom('passkey_challenges').selectAll().execute(), []);
});

test('an authenticator belongs to one member, who has at most ten', async () => {
  const { person, authenticator } = await withPasskey();
  const other = await joinTeam(app, organizationGuid);
  const stolen = authenticator.create(await registrationOptions(other));
  assertError(await register(other, stolen), 422, 'passkey_invalid', /already/);
  for (let i = 1; i < 9; i++)
    await register(person, createAuthenticator().create(await registrationOptions(person)));
  const [a, b] = [await registrationOptions(person), await registrationOptions(person)];
  const answers = await Promise.all(
    [a, b].map((options) => register(person, createAuthenticator().create(options))),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422]);
  app.clock.advance(CHALLENGE_MS);
  const login = await loginOptions();
  const as = browserOf(await enter(login, authenticator.get(login)));
  const eleventh = await browse(app, 'POST', '/account/passkeys/options', { as, payload: {} });
  assertError(eleventh, 422, 'passkey_limit_reached');
});

test('a password reset removes every passkey', async () => {
  const { person, authenticator, guid } = await withPasskey();
  const { authenticator: others } = await withPasskey();
  const { body } = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  const options = await loginOptions();
  const signed = authenticator.get(options);
  const payload = { token: tokenInLink(body.link), password: 'a brand new password' };
  const answer = await browse(app, 'POST', '/password', { payload });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal((answer.body.member as { passkey_count: number }).passkey_count, 0);
  isRefused(await enter(options, signed));
  const next = await loginOptions();
  assert.equal((await enter(next, others.get(next))).status, 200, 'passkeys of other members stay');
  const removed = await app.database.queries
    .selectFrom('audit_records')
    .select('changes')
    .where('action', '=', 'account.remove_passkey')
    .where('object_id', '=', person.memberGuid)
    .execute();
  assert.deepEqual(removed, [{ changes: { passkey: guid } }]);
  assert.deepEqual(await removedFactorsOf(app, organizationGuid, person.memberGuid), ['passkey']);
});

test('a password change keeps the passkeys', async () => {
  const { person, authenticator } = await withPasskey();
  const payload = { current_password: PASSWORD, new_password: 'a brand new password' };
  assert.equal((await browse(app, 'POST', '/account/password', { as: person, payload })).status, 204);
  const options = await loginOptions();
  assert.equal((await enter(options, authenticator.get(options))).status, 200);
});

test('a passkey of another member cannot be removed', async () => {
  const { person, guid } = await withPasskey();
  const other = await joinTeam(app, organizationGuid);
  assertError(await browse(app, 'DELETE', `/account/passkeys/${guid}`, { as: other }), 404, 'not_found');
  assert.deepEqual(await removedFactorsOf(app, organizationGuid, other.memberGuid), []);
  assert.equal(objectsOf(await browse(app, 'GET', '/account/passkeys', { as: person })).length, 1);
});
