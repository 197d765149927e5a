import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';
import { createAuthenticator } from '../../../../testing/people/authenticator.ts';
import { browse, joinTeam, logIn, PASSWORD, type Person } from '../../../../testing/people/dashboard.ts';
import { codesOf } from '../../../../testing/people/totp.ts';

/** Changes that read a login before a concurrent password reset, and write after it. */
const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const NEW_PASSWORD = 'a brand new password';

type Meanwhile = { password?: 'replaced'; sessions?: 'ended' };

/** Runs a call until it waits for the row lock, then resets the password and ends the sessions. */
async function during(
  { memberGuid }: Person,
  { password, sessions }: Meanwhile,
  call: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  await app.database.transaction(async (transaction) => {
    const login = transaction.updateTable('logins').where('member_guid', '=', memberGuid);
    await login.set(password ? { password_hash: 'another' } : { updated_at: app.clock.now() }).execute();
    if (sessions) await transaction.deleteFrom('sessions').where('member_guid', '=', memberGuid).execute();
    answer = call();
    while ((await lockWaits(app.database.queries)) === 0);
  });
  return (await answer) as Answer;
}

const isOver = (answer: Answer) => assertError(answer, 401, 'authentication_failed');
const isWrong = (answer: Answer) => assertError(answer, 422, 'password_incorrect');
const newPerson = () => joinTeam(app, organizationGuid);

async function loginOf({ memberGuid }: Person) {
  const logins = app.database.queries.selectFrom('logins').selectAll();
  return logins.where('member_guid', '=', memberGuid).executeTakeFirstOrThrow();
}

async function beginTotp(as: Person): Promise<() => string> {
  const { body } = await browse(app, 'POST', '/account/totp', { as, payload: {} });
  return codesOf(app, body.secret);
}
const confirmTotp = (as: Person, code: string) =>
  browse(app, 'POST', '/account/totp/confirm', { as, payload: { code } });

test('a login in progress during a password change is refused', async () => {
  const person = await newPerson();
  isOver(await during(person, { password: 'replaced' }, () => logIn(app, person)));
});

test('a password change in progress does not undo a reset', async () => {
  const change = (as: Person) => () =>
    browse(app, 'POST', '/account/password', {
      as,
      payload: { current_password: PASSWORD, new_password: NEW_PASSWORD },
    });
  const [replaced, ended] = [await newPerson(), await newPerson()];
  isWrong(await during(replaced, { password: 'replaced' }, change(replaced)));
  assert.equal((await loginOf(replaced)).password_hash, 'another');
  isOver(await during(ended, { sessions: 'ended' }, change(ended)));
  assert.equal((await logIn(app, ended)).status, 200, 'the password has not changed');
});

test('turning TOTP off is refused if a reset comes in between', async () => {
  const turnOff = (as: Person) => () =>
    browse(app, 'DELETE', '/account/totp', { as, payload: { password: PASSWORD } });
  const [replaced, ended] = [await newPerson(), await newPerson()];
  for (const person of [replaced, ended]) {
    const code = await beginTotp(person);
    assert.equal((await confirmTotp(person, code())).status, 200);
  }
  isWrong(await during(replaced, { password: 'replaced' }, turnOff(replaced)));
  isOver(await during(ended, { sessions: 'ended' }, turnOff(ended)));
  for (const person of [replaced, ended]) assert.ok((await loginOf(person)).totp_confirmed_at);
});

test('turning TOTP on is refused if a reset comes in between', async () => {
  const person = await newPerson();
  const code = await beginTotp(person);
  isOver(await during(person, { sessions: 'ended' }, () => confirmTotp(person, code())));
  assert.equal((await loginOf(person)).totp_confirmed_at, null);
});

test('adding a passkey is refused if a reset comes in between', async () => {
  const as = await newPerson();
  const options = await browse(app, 'POST', '/account/passkeys/options', { as, payload: {} });
  const response = createAuthenticator().create(options.body as { challenge: string });
  const payload = { name: 'Laptop', response };
  isOver(
    await during(as, { sessions: 'ended' }, () => browse(app, 'POST', '/account/passkeys', { as, payload })),
  );
  const passkeys = app.database.queries.selectFrom('passkeys').selectAll();
  assert.deepEqual(await passkeys.where('member_guid', '=', as.memberGuid).execute(), []);
});
