import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { browse, joinTeam, logIn } from '../../../../testing/people/dashboard.ts';

/** Two nodes that share counters, with small limits. */
const testDatabase = await createTestDatabase();
const environment = { PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '4', PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '12' };
const app = await createTestApp({ testDatabase, environment });
const second = await createTestApp({ testDatabase, environment, clock: app.clock });
after(() => testDatabase.drop());
const { organizationGuid } = await createTenant(app);
const WINDOW_MS = 300_000;
let addresses = 0;
const newAddress = () => `192.0.2.${++addresses}`;

function assertExhausted(answer: Answer): void {
  assertError(answer, 403, 'rate_limit_exceeded');
  const seconds = Number(answer.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 3_600, String(seconds));
}

const newWindow = () => app.clock.advance(WINDOW_MS);

test('logins are limited per email and source address, over all nodes', async () => {
  newWindow();
  const person = await joinTeam(app, organizationGuid);
  const [here, elsewhere] = [newAddress(), newAddress()];
  const wrong = { ...person, password: 'not the password' };
  for (const node of [app, second, app])
    assertError(await logIn(node, wrong, { remoteAddress: here }), 401, 'authentication_failed');
  assert.equal((await logIn(second, person, { remoteAddress: here })).status, 200);
  for (const node of [app, second]) assertExhausted(await logIn(node, person, { remoteAddress: here }));
  assert.equal(
    (await logIn(app, person, { remoteAddress: elsewhere })).status,
    200,
    'the owner can still log in',
  );
  newWindow();
  assert.equal((await logIn(app, person, { remoteAddress: here })).status, 200);
});

test('an unknown address is counted like a known one', async () => {
  newWindow();
  const [remoteAddress, unknown] = [newAddress(), { email: 'unknown@partner.example', password: 'x' }];
  for (let i = 0; i < 4; i++)
    assertError(await logIn(app, unknown, { remoteAddress }), 401, 'authentication_failed');
  assertExhausted(await logIn(app, { ...unknown, email: 'UNKNOWN@partner.example' }, { remoteAddress }));
});

test('logins are limited per source address', async () => {
  newWindow();
  const remoteAddress = newAddress();
  for (let i = 0; i < 12; i++)
    await logIn(app, { email: `guess-${i}@partner.example`, password: 'x' }, { remoteAddress });
  assertExhausted(await logIn(app, { email: 'guess-13@partner.example', password: 'x' }, { remoteAddress }));
});

test('logins are limited per email address over all sources', async () => {
  newWindow();
  const person = await joinTeam(app, organizationGuid);
  const wrong = { ...person, password: 'not the password' };
  for (let i = 0; i < 20; i++)
    assertError(await logIn(app, wrong, { remoteAddress: newAddress() }), 401, 'authentication_failed');
  assertExhausted(await logIn(app, wrong, { remoteAddress: newAddress() }));
});

test('wrong passwords from many networks do not lock a member out of a known network', async () => {
  newWindow();
  const person = await joinTeam(app, organizationGuid);
  const wrong = { ...person, password: 'not the password' };
  const office = (host: number) => ({ remoteAddress: `198.35.26.${host}` });
  assert.equal((await logIn(app, person, office(1))).status, 200);
  newWindow();
  for (let i = 0; i < 20; i++) await logIn(app, wrong, { remoteAddress: newAddress() });
  assertExhausted(await logIn(app, person, { remoteAddress: newAddress() }));
  assert.equal((await logIn(second, person, office(2))).status, 200);
  for (let i = 0; i < 19; i++)
    assertError(await logIn(app, wrong, office(3 + i)), 401, 'authentication_failed');
  assertExhausted(await logIn(app, person, office(30)));
});

test('concurrent guesses do not exceed the limit', async () => {
  newWindow();
  const person = await joinTeam(app, organizationGuid);
  const remoteAddress = newAddress();
  const wrong = { ...person, password: 'not the password' };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => logIn(i % 2 ? app : second, wrong, { remoteAddress })),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 4);
});

test('five password resets per hour for an address, known or unknown', async () => {
  for (const email of [(await joinTeam(app, organizationGuid)).email, 'unknown@partner.example']) {
    app.clock.advance(3_600_000);
    const ask = () =>
      browse(app, 'POST', '/password_resets', { payload: { email }, remoteAddress: newAddress() });
    for (let i = 0; i < 5; i++) assert.equal((await ask()).status, 202);
    assertExhausted(await ask());
  }
});

test('passkey challenges are rate limited', async () => {
  newWindow();
  const remoteAddress = newAddress();
  const ask = () => browse(app, 'POST', '/passkey_login/options', { payload: {}, remoteAddress });
  for (let i = 0; i < 12; i++) assert.equal((await ask()).status, 200);
  assertExhausted(await ask());
});

test('inspecting, using and accepting links is rate limited', async () => {
  const as = await joinTeam(app, organizationGuid);
  const token = 'x'.repeat(43);
  for (const [path, payload] of [
    ['/links/inspect', { token }],
    ['/links/accept', { token }],
    ['/password', { token, password: 'a brand new password' }],
  ] as const) {
    newWindow();
    const remoteAddress = newAddress();
    const use = () => browse(app, 'POST', path, { as, payload, remoteAddress });
    for (let i = 0; i < 12; i++) assertError(await use(), 404, 'not_found');
    assertExhausted(await use());
  }
});

test('checks of the current password in a session are rate limited', async () => {
  newWindow();
  const person = await joinTeam(app, organizationGuid);
  const payload = { current_password: 'not the password', new_password: 'a brand new password' };
  const change = () => browse(app, 'POST', '/account/password', { as: person, payload });
  for (let i = 0; i < 20; i++) assertError(await change(), 422, 'password_incorrect');
  assertExhausted(await change());
});

test('the counters do not store email addresses', async () => {
  const rows = await app.database.queries.selectFrom('rate_limits').select('key').execute();
  assert.ok(rows.some(({ key }) => key.startsWith('login_email:')));
  assert.ok(rows.every(({ key }) => !key.includes('@')));
});

test('a refused body counts once, and a blocked source is refused before its body is read', async () => {
  newWindow();
  const headers = { 'content-type': 'application/json' };
  for (const [payload, status] of [
    [`"${'a'.repeat(16 * 1_024)}"`, 413],
    ['{', 400],
    [`{${Array.from({ length: 101 }, (_, n) => `"${n}":0`)}}`, 400],
    ['{}', 400],
  ] as const)
    for (const url of ['/dashboard/login', '/dashboard/password_resets']) {
      const remoteAddress = newAddress();
      const send = () => app.call({ method: 'POST', url, headers, remoteAddress, payload });
      for (let n = 0; n < 12; n += 1)
        assert.equal((await send()).status, status, `${url}: ${payload.slice(0, 9)}`);
      assertExhausted(await send());
      const unknown = { email: 'unknown@partner.example', password: 'x' };
      assertExhausted(await logIn(app, unknown, { remoteAddress }));
    }
});
