import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { removedFactorsOf } from '../../../../testing/people/alerts.ts';
import {
  browse,
  joinTeam,
  logIn,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../../../../testing/people/dashboard.ts';

const environment = {
  PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000',
};
const app = await createTestApp({ environment });
const { organizationGuid } = await createTenant(app);
const STEP_MS = 30_000;
const PROOF_MS = 5 * 60_000;

/** Code of the authenticator app, some steps from now. */
function codeOf(secret: string, steps = 0): string {
  const timestamp = app.clock.now().getTime() + steps * STEP_MS;
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

type WithTotp = Person & { secret: string; recoveryCodes: string[] };

async function withTotp(): Promise<WithTotp> {
  const person = await joinTeam(app, organizationGuid);
  const begun = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const secret = String(begun.body.secret);
  const confirmed = await confirm(person, codeOf(secret));
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  app.clock.advance(2 * STEP_MS);
  return { ...person, secret, recoveryCodes: confirmed.body.recovery_codes as string[] };
}

const confirm = (as: Person, code: string) =>
  browse(app, 'POST', '/account/totp/confirm', { as, payload: { code } });
const enter = (person: Person, code?: string) => logIn(app, person, code === undefined ? {} : { code });
const isRight = ({ status, body }: Answer) => assert.equal(status, 200, JSON.stringify(body));
const isWrong = (answer: Answer) => assertError(answer, 401, 'totp_invalid');

test('TOTP is off until a code is confirmed', async () => {
  const person = await joinTeam(app, organizationGuid);
  const { body } = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  const uri = new URL(String(body.uri));
  assert.deepEqual([uri.protocol, uri.host], ['otpauth:', 'totp']);
  assert.equal(decodeURIComponent(uri.pathname), `/Portico:${person.email}`);
  assert.equal(uri.searchParams.get('secret'), body.secret);
  isRight(await enter(person));
  const wrong = codeOf(String(body.secret)).replace(/./g, (digit) => String((Number(digit) + 1) % 10));
  assertError(await confirm(person, wrong), 422, 'code_incorrect');
  isRight(await enter(person));
  const confirmed = await confirm(person, codeOf(String(body.secret)));
  assert.equal((confirmed.body.recovery_codes as string[]).length, 10);
  assertError(await enter(person), 401, 'totp_required');
  assertError(await browse(app, 'POST', '/account/totp', { as: person, payload: {} }), 409, 'totp_enabled');
  const session = await browse(app, 'GET', '/session', { as: person });
  assert.equal((session.body.member as { has_totp: boolean }).has_totp, true);
});

test('a wrong password does not reveal whether TOTP is on', async () => {
  const person = await withTotp();
  const answer = await logIn(
    app,
    { ...person, password: 'not the password' },
    { code: codeOf(person.secret) },
  );
  assertError(answer, 401, 'authentication_failed');
  isRight(await enter(person, codeOf(person.secret)));
});

test('codes of the previous and the next step are valid, others are not', async () => {
  for (const steps of [-1, 0, 1]) {
    const person = await withTotp();
    isRight(await enter(person, codeOf(person.secret, steps)));
  }
  const person = await withTotp();
  for (const steps of [-3, -2, 2, 3]) isWrong(await enter(person, codeOf(person.secret, steps)));
  for (const code of ['', 'abcdef', '12345', '１２３４５６']) isWrong(await enter(person, code));
});

test('a code is valid once, also for concurrent logins, and invalidates earlier ones', async () => {
  const person = await withTotp();
  const code = codeOf(person.secret);
  const answers = await Promise.all([enter(person, code), enter(person, code), enter(person, code)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
  isWrong(await enter(person, code));
  isWrong(await enter(person, codeOf(person.secret, -1)));
  app.clock.advance(STEP_MS);
  isRight(await enter(person, codeOf(person.secret)));
});

test('the code that turned TOTP on cannot be reused to log in', async () => {
  const person = await joinTeam(app, organizationGuid);
  const { body } = await browse(app, 'POST', '/account/totp', { as: person, payload: {} });
  const code = codeOf(String(body.secret));
  isRight(await confirm(person, code));
  isWrong(await enter(person, code));
});

test('a recovery code is valid once, regardless of case and separators', async () => {
  const person = await withTotp();
  const [first = '', second = '', third = ''] = person.recoveryCodes;
  assert.match(first, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  assert.equal(new Set(person.recoveryCodes).size, 10);
  isRight(await enter(person, first));
  isWrong(await enter(person, first));
  isRight(await enter(person, second.toUpperCase().replaceAll('-', ' ')));
  const answers = await Promise.all([enter(person, third), enter(person, third)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
});

test('after ten codes in an hour a member’s codes are refused, also the correct one', async () => {
  const [person, other] = [await withTotp(), await withTotp()];
  for (let i = 0; i < 10; i++) isWrong(await enter(person, '000000'));
  const blocked = await enter(person, codeOf(person.secret));
  assertError(blocked, 403, 'rate_limit_exceeded');
  assert.ok(Number(blocked.headers['retry-after']) > 0);
  isRight(await enter(other, codeOf(other.secret)));
  app.clock.advance(3_600_000);
  isRight(await enter(person, codeOf(person.secret)));
});

test('turning TOTP off requires the password and a fresh second factor, and raises an alert', async () => {
  const person = await withTotp();
  const turnOff = (password: string) =>
    browse(app, 'DELETE', '/account/totp', { as: person, payload: { password } });
  const prove = (how: string, payload: object) =>
    browse(app, 'POST', `/account/proof/${how}`, { as: person, payload });
  app.clock.advance(PROOF_MS);
  assertError(await turnOff(PASSWORD), 403, 'proof_required');
  assertError(await prove('password', { password: PASSWORD }), 403, 'proof_required', /one-time password/);
  assertError(await turnOff(PASSWORD), 403, 'proof_required');
  assert.equal((await prove('totp', { code: codeOf(person.secret) })).status, 204);
  assertError(await turnOff('not the password'), 422, 'password_incorrect');
  assertError(await enter(person), 401, 'totp_required');
  const removed = () => removedFactorsOf(app, organizationGuid, person.memberGuid);
  assert.deepEqual(await removed(), []);
  assert.equal((await turnOff(PASSWORD)).status, 204);
  isRight(await enter(person));
  assert.deepEqual(await removed(), ['authenticator app']);
});

test('a password reset does not bypass TOTP', async () => {
  const person = await withTotp();
  const { body } = await app.operate('POST', `/members/${person.memberGuid}/password_reset`, {});
  const token = tokenInLink(body.link);
  const set = (more: object) =>
    browse(app, 'POST', '/password', { payload: { token, password: 'a brand new password', ...more } });
  assertError(await set({}), 401, 'totp_required');
  isWrong(await set({ totp_code: '000000' }));
  isRight(await set({ totp_code: codeOf(person.secret) }));
});

test('the operator can turn TOTP off for a member who lost the authenticator', async () => {
  const person = await withTotp();
  const path = `/members/${person.memberGuid}/password_reset`;
  const { body } = await app.operate('POST', path, { remove_totp: true });
  const payload = { token: tokenInLink(body.link), password: 'a brand new password' };
  isRight(await browse(app, 'POST', '/password', { payload }));
  assert.deepEqual(await removedFactorsOf(app, organizationGuid, person.memberGuid), ['authenticator app']);
});

test('secrets and recovery codes are neither in the database nor in the log', async () => {
  const person = await withTotp();
  const hidden = [person.secret, ...person.recoveryCodes, ...person.recoveryCodes.map(plain)];
  for (const table of ['logins', 'audit_records'] as const) {
    const rows = await app.database.queries.selectFrom(table).selectAll().execute();
    for (const value of rows.flatMap((row) => Object.values(row))) {
      const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
      for (const secret of hidden) assert.ok(!bytes.includes(secret), table);
    }
  }
  for (const secret of hidden) assert.ok(!app.logged.join().includes(secret));
});

function plain(code: string): string {
  return code.replaceAll('-', '');
}
