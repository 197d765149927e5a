import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { createAuthenticator } from '../../../../testing/people/authenticator.ts';
import {
  type Browser,
  browse,
  browserOf,
  dashboardToken,
  joinTeam,
  logIn,
  PASSWORD,
  tokenInLink,
} from '../../../../testing/people/dashboard.ts';
import { codesOf } from '../../../../testing/people/totp.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';

const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const PROOF_MS = 5 * 60_000;
const CODE_MS = 30_000;
const HOUR_MS = 3_600_000;

const beginTotp = (as: Browser) => browse(app, 'POST', '/account/totp', { as, payload: {} });
const beginPasskey = (as: Browser) => browse(app, 'POST', '/account/passkeys/options', { as, payload: {} });
const removePasskey = (as: Browser, guid = NIL_GUID) =>
  browse(app, 'DELETE', `/account/passkeys/${guid}`, { as });
const prove = (as: Browser, how: string, payload: object) =>
  browse(app, 'POST', `/account/proof/${how}`, { as, payload });

const isAsked = (answer: Answer, by = /with your password$/) =>
  assertError(answer, 403, 'proof_required', by);
const BY_CODE = /with a one-time password or a recovery code$/;
const BY_PASSKEY = /with a passkey$/;
const BY_EITHER = /with a one-time password, a recovery code or a passkey$/;
const isProved = ({ status, body }: Answer) => assert.equal(status, 204, JSON.stringify(body));

async function addPasskey(as: Browser) {
  const authenticator = createAuthenticator();
  const options = (await beginPasskey(as)).body as { challenge: string };
  const payload = { name: 'Laptop', response: authenticator.create(options) };
  const { status, body } = await browse(app, 'POST', '/account/passkeys', { as, payload });
  assert.equal(status, 201, JSON.stringify(body));
  return { authenticator, guid: String(body.guid) };
}

async function signed(authenticator: ReturnType<typeof createAuthenticator>) {
  const { body } = await browse(app, 'POST', '/passkey_login/options', { payload: {} });
  const options = body as { challenge: string; challenge_id: string };
  return { challenge_id: options.challenge_id, response: authenticator.get(options) };
}

test('a login counts as a proof for five minutes; later changes of second factors need a new one', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(PROOF_MS - 1);
  assert.equal((await beginPasskey(person)).status, 200);
  app.clock.advance(1);
  isAsked(await beginPasskey(person));
  isAsked(await beginTotp(person));
  isAsked(await removePasskey(person));

  isProved(await prove(person, 'password', { password: PASSWORD }));
  assert.equal((await beginTotp(person)).status, 201);
  assertError(await removePasskey(person), 404, 'not_found');
  app.clock.advance(PROOF_MS);
  isAsked(await beginTotp(person));
});

test('for a member with a passkey, neither the password nor a password login is a proof', async () => {
  const person = await joinTeam(app, organizationGuid);
  const { authenticator, guid } = await addPasskey(person);
  assert.equal((await beginTotp(person)).status, 201, 'adding a passkey counts as a proof');
  const elsewhere = browserOf(await logIn(app, person));
  const inviteFrom = async (as: Browser) => {
    const token = await dashboardToken(app, as, organizationGuid);
    const payload = { email: `${app.guids.next()}@partner.example`, role: 'viewer' };
    return app.call({ method: 'POST', url: '/api/members', token, payload });
  };
  const payload = { current_password: PASSWORD, new_password: 'a brand new password' };
  const changePassword = () => browse(app, 'POST', '/account/password', { as: elsewhere, payload });
  for (const refused of [
    await prove(elsewhere, 'password', { password: PASSWORD }),
    await beginPasskey(elsewhere),
    await beginTotp(elsewhere),
    await removePasskey(elsewhere, guid),
    await changePassword(),
  ])
    isAsked(refused, BY_PASSKEY);
  assertError(await inviteFrom(elsewhere), 403, 'proof_required');
  assert.equal(objectsOf(await browse(app, 'GET', '/account/passkeys', { as: elsewhere })).length, 1);

  isProved(await prove(elsewhere, 'passkey', await signed(authenticator)));
  assert.equal((await inviteFrom(elsewhere)).status, 201);
  assert.equal((await changePassword()).status, 204);
  app.clock.advance(PROOF_MS);
  isAsked(await removePasskey(elsewhere, guid), BY_PASSKEY);
  isProved(await prove(elsewhere, 'passkey', await signed(authenticator)));
  assert.equal((await removePasskey(elsewhere, guid)).status, 204);

  app.clock.advance(PROOF_MS);
  isAsked(await beginTotp(elsewhere));
  isProved(await prove(elsewhere, 'password', { password: payload.new_password }));
  assert.equal((await beginTotp(elsewhere)).status, 201, 'without a passkey the password is a proof again');
});

test('a password reset lets a member in who lost their only passkey', async () => {
  const person = await joinTeam(app, organizationGuid);
  await addPasskey(person);
  const { body } = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  const payload = { token: tokenInLink(body.link), password: 'a brand new password' };
  const again = browserOf(await browse(app, 'POST', '/password', { payload }));
  assert.equal((await beginPasskey(again)).status, 200);
});

test('a wrong password is not a proof, and does not end the session', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(PROOF_MS);
  assertError(await prove(person, 'password', { password: 'wrong' }), 422, 'password_incorrect');
  isAsked(await beginTotp(person));
  assert.equal((await browse(app, 'GET', '/session', { as: person })).status, 200);
});

test('a proof is valid only in its session', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(PROOF_MS);
  const elsewhere = browserOf(await logIn(app, person));
  isAsked(await beginTotp(person));
  assert.equal((await beginTotp(elsewhere)).status, 201);
  app.clock.advance(PROOF_MS);
  isProved(await prove(elsewhere, 'password', { password: PASSWORD }));
  isAsked(await beginTotp(person));
  assert.equal((await beginTotp(elsewhere)).status, 201);
});

/** Begins the setup. Returns the code that the app shows at the time of each call. */
async function scanTotp(as: Browser): Promise<() => string> {
  return codesOf(app, (await beginTotp(as)).body.secret);
}

async function confirmTotp(as: Browser, code: string): Promise<string[]> {
  const { body } = await browse(app, 'POST', '/account/totp/confirm', { as, payload: { code } });
  return body.recovery_codes as string[];
}

test('a one-time password is a proof once TOTP is on, each code once', async () => {
  const person = await joinTeam(app, organizationGuid);
  const code = await scanTotp(person);
  assertError(await prove(person, 'totp', { code: code() }), 422, 'code_incorrect');
  await confirmTotp(person, code());
  app.clock.advance(PROOF_MS);
  isAsked(await beginPasskey(person), BY_CODE);
  const shown = code();
  isProved(await prove(person, 'totp', { code: shown }));
  assert.equal((await beginPasskey(person)).status, 200);
  assertError(await prove(person, 'totp', { code: shown }), 422, 'code_incorrect');
});

test('while TOTP is on, a recovery code or a passkey is a proof, the password is not', async () => {
  const person = await joinTeam(app, organizationGuid);
  const { authenticator } = await addPasskey(person);
  const code = await scanTotp(person);
  const [recoveryCode = ''] = await confirmTotp(person, code());
  const ways = [
    ['totp', async () => ({ code: recoveryCode })],
    ['passkey', () => signed(authenticator)],
  ] as const;
  for (const [how, answer] of ways) {
    app.clock.advance(PROOF_MS - 1);
    isAsked(await prove(person, 'password', { password: PASSWORD }), BY_EITHER);
    app.clock.advance(1);
    isAsked(await beginPasskey(person), BY_EITHER);
    isProved(await prove(person, how, await answer()));
    assert.equal((await beginPasskey(person)).status, 200);
  }
});

test('a passkey of the member is a proof, another member’s is not', async () => {
  const person = await joinTeam(app, organizationGuid);
  const other = await joinTeam(app, organizationGuid);
  const { authenticator } = await addPasskey(person);
  app.clock.advance(PROOF_MS);
  assertError(await prove(other, 'passkey', await signed(authenticator)), 422, 'passkey_invalid');
  isAsked(await beginTotp(other));
  const answer = await signed(authenticator);
  isProved(await prove(person, 'passkey', answer));
  assert.equal((await beginTotp(person)).status, 201);
  assertError(await prove(person, 'passkey', answer), 422, 'passkey_invalid');
});

test('proofs are rate limited, and each is in the audit log', async () => {
  const person = await joinTeam(app, organizationGuid);
  isProved(await prove(person, 'password', { password: PASSWORD }));
  const entries = await app.operate(
    'GET',
    `/audit_records?object_id=${person.memberGuid}&action=session.prove`,
  );
  assert.equal(objectsOf(entries).length, 1);
  for (let i = 0; i < 19; i++)
    assertError(await prove(person, 'password', { password: 'wrong' }), 422, 'password_incorrect');
  assertError(await prove(person, 'password', { password: PASSWORD }), 403, 'rate_limit_exceeded');
  for (let i = 0; i < 10; i++)
    assertError(await prove(person, 'totp', { code: '000000' }), 422, 'code_incorrect');
  assertError(await prove(person, 'totp', { code: '000000' }), 403, 'rate_limit_exceeded');
});

test('code limits of proofs and of logins are separate', async () => {
  const person = await joinTeam(app, organizationGuid);
  const code = await scanTotp(person);
  await confirmTotp(person, code());
  for (let i = 0; i < 10; i++)
    assertError(await prove(person, 'totp', { code: '000000' }), 422, 'code_incorrect');
  assertError(await prove(person, 'totp', { code: '000000' }), 403, 'rate_limit_exceeded');
  app.clock.advance(CODE_MS);
  assert.equal((await logIn(app, person, { code: code() })).status, 200);

  app.clock.advance(HOUR_MS);
  for (let i = 0; i < 10; i++) assertError(await logIn(app, person, { code: '000000' }), 401, 'totp_invalid');
  assertError(await logIn(app, person, { code: code() }), 403, 'rate_limit_exceeded');
  isProved(await prove(person, 'totp', { code: code() }));
});

test('a session without a recorded proof needs one', async () => {
  const person = await joinTeam(app, organizationGuid);
  await app.database.queries.updateTable('sessions').set({ proved_at: null }).execute();
  isAsked(await beginTotp(person));
});

test('a password proof no longer counts once TOTP is on', async () => {
  const person = await joinTeam(app, organizationGuid);
  const elsewhere = browserOf(await logIn(app, person));
  const code = await scanTotp(person);
  assert.equal((await beginPasskey(elsewhere)).status, 200);
  await confirmTotp(person, code());
  isAsked(await beginPasskey(elsewhere), BY_CODE);
  assert.equal((await beginPasskey(person)).status, 200, 'confirming a code counts as a proof');
  app.clock.advance(CODE_MS);
  isProved(await prove(elsewhere, 'totp', { code: code() }));
  assert.equal((await beginPasskey(elsewhere)).status, 200);
});

test('with TOTP on, a password change needs a fresh second factor besides the old password', async () => {
  const person = await joinTeam(app, organizationGuid);
  const payload = { current_password: PASSWORD, new_password: 'a brand new password' };
  const change = () => browse(app, 'POST', '/account/password', { as: person, payload });
  const code = await scanTotp(person);
  await confirmTotp(person, code());
  app.clock.advance(PROOF_MS);
  isAsked(await change(), BY_CODE);
  assert.equal((await logIn(app, person, { code: code() })).status, 200, 'the password has not changed');
  app.clock.advance(CODE_MS);
  isProved(await prove(person, 'totp', { code: code() }));
  assert.equal((await change()).status, 204);
});
