import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { createAuthenticator } from '../../../../testing/people/authenticator.ts';
import {
  type Browser,
  browse,
  browserOf,
  joinTeam,
  logIn,
  PASSWORD,
} from '../../../../testing/people/dashboard.ts';
import { codesOf } from '../../../../testing/people/totp.ts';

/** Second factors between the start of their setup and its end, in which the account may change. */
const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const PROOF_MS = 5 * 60_000;
const SETUP_MS = 10 * 60_000;

const post = (as: Browser, path: string, payload: object = {}) => browse(app, 'POST', path, { as, payload });
const confirm = (as: Browser, code: string) => post(as, '/account/totp/confirm', { code });
const proveByPassword = (as: Browser) => post(as, '/account/proof/password', { password: PASSWORD });

/** Returns the codes of the app. */
async function beginTotp(as: Browser): Promise<() => string> {
  const { status, body } = await post(as, '/account/totp');
  assert.equal(status, 201, JSON.stringify(body));
  return codesOf(app, body.secret);
}

/** Returns the call that ends the registration. */
async function beginPasskey(as: Browser) {
  const options = (await post(as, '/account/passkeys/options')).body as { challenge: string };
  const response = createAuthenticator().create(options);
  return () => post(as, '/account/passkeys', { name: 'Laptop', response });
}

async function addPasskey(as: Browser): Promise<void> {
  const { status, body } = await (await beginPasskey(as))();
  assert.equal(status, 201, JSON.stringify(body));
}

const withTwoSessions = async () => {
  const owner = await joinTeam(app, organizationGuid);
  return { owner, elsewhere: browserOf(await logIn(app, owner)) };
};

test('confirming an authenticator needs a fresh proof', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(PROOF_MS - 1);
  const code = await beginTotp(person);
  app.clock.advance(1);
  assertError(await confirm(person, code()), 403, 'proof_required');
  assert.equal((await proveByPassword(person)).status, 204);
  assert.equal((await confirm(person, code())).status, 200);
});

test('an authenticator that is not confirmed within ten minutes is refused', async () => {
  const person = await joinTeam(app, organizationGuid);
  const confirmAfter = async (ms: number) => {
    const code = await beginTotp(person);
    app.clock.advance(ms);
    assert.equal((await proveByPassword(person)).status, 204);
    return confirm(person, code());
  };
  assertError(await confirmAfter(SETUP_MS), 422, 'code_incorrect', /setup has expired/);
  assert.equal((await confirmAfter(SETUP_MS - 1)).status, 200);
});

test('an authenticator begun by a password thief is refused after the owner added a passkey', async () => {
  const { owner, elsewhere: thief } = await withTwoSessions();
  const code = await beginTotp(thief);
  await addPasskey(owner);
  assertError(await confirm(thief, code()), 403, 'proof_required', /with a passkey$/);
  assertError(await confirm(owner, code()), 422, 'code_incorrect');
});

test('a changed password discards an authenticator that is not confirmed', async () => {
  const { owner, elsewhere: thief } = await withTwoSessions();
  const code = await beginTotp(thief);
  const passwords = { current_password: PASSWORD, new_password: 'a brand new password' };
  assert.equal((await post(owner, '/account/password', passwords)).status, 204);
  assertError(await confirm(owner, code()), 422, 'code_incorrect');
});

test('a passkey begun before the owner added one needs a proof by it', async () => {
  const { owner, elsewhere: thief } = await withTwoSessions();
  const register = await beginPasskey(thief);
  await addPasskey(owner);
  assertError(await register(), 403, 'proof_required', /with a passkey$/);
});

test('the start of the setup is in the audit log', async () => {
  const person = await joinTeam(app, organizationGuid);
  await beginTotp(person);
  const path = `/audit_records?object_id=${person.memberGuid}&action=account.begin_totp`;
  assert.equal(objectsOf(await app.operate('GET', path)).length, 1);
});
