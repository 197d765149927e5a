import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { type Answer, assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import {
  type Browser,
  browse,
  browserOf,
  joinTeam,
  logIn,
  PASSWORD,
} from '../../../../testing/people/dashboard.ts';

const environment = {
  PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000',
};
const app = await createTestApp({ environment });
const { organizationGuid } = await createTenant(app);
const HOUR_MS = 3_600_000;

const session = (as: Browser) => browse(app, 'GET', '/session', { as });
const sessionsOf = async (as: Browser) => objectsOf(await browse(app, 'GET', '/account/sessions', { as }));
const isOver = (answer: Answer) => assertError(answer, 401, 'authentication_failed');

test('a session ends after twelve idle hours', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(12 * HOUR_MS - 1);
  assert.equal((await session(person)).status, 200, 'use just before the timeout extends it');
  app.clock.advance(12 * HOUR_MS - 1);
  assert.equal((await session(person)).status, 200);
  app.clock.advance(12 * HOUR_MS);
  isOver(await session(person));
});

test('a session ends after seven days, even if it is in use', async () => {
  const person = await joinTeam(app, organizationGuid);
  for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
    app.clock.advance(8 * HOUR_MS);
    assert.equal((await session(person)).status, 200, `after ${hours + 8} hours`);
  }
  app.clock.advance(8 * HOUR_MS - 1);
  assert.equal((await session(person)).status, 200);
  app.clock.advance(1);
  isOver(await session(person));
});

test('the database stores only the hash of the cookie', async () => {
  const person = await joinTeam(app, organizationGuid);
  const value = person.cookie.split('=')[1] as string;
  const rows = await app.database.queries.selectFrom('sessions').selectAll().execute();
  assert.ok(rows.length > 0);
  for (const stored of rows.flatMap((row) => Object.values(row))) {
    const bytes = Buffer.isBuffer(stored) ? stored : Buffer.from(JSON.stringify(stored));
    assert.ok(!bytes.includes(value) && !bytes.includes(Buffer.from(value, 'base64url')));
  }
});

test('a member lists their sessions and ends one', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(60_000);
  const headers = { 'user-agent': 'A browser' };
  const other = browserOf(await logIn(app, person, { headers, remoteAddress: '192.0.2.7' }));
  const [newest, first, ...more] = await sessionsOf(person);
  assert.equal(more.length, 0);
  const now = app.clock.now().toISOString();
  assert.deepEqual(newest, {
    guid: newest?.guid,
    created_at: now,
    last_seen_at: now,
    address: '192.0.2.7',
    user_agent: 'A browser',
    current: false,
  });
  assert.equal(first?.current, true);
  assert.equal((await sessionsOf(other)).find(({ current }) => current)?.guid, newest?.guid);

  const ended = await browse(app, 'DELETE', `/account/sessions/${newest?.guid}`, { as: person });
  assert.equal(ended.status, 204);
  isOver(await session(other));
  assert.equal((await session(person)).status, 200);
});

test('a session shows the current source address, not the one of the login', async () => {
  const person = await joinTeam(app, organizationGuid);
  for (const remoteAddress of ['192.0.2.7', '192.0.2.8']) {
    const { body } = await browse(app, 'GET', '/session', { as: person, remoteAddress });
    assert.equal(body.address, remoteAddress);
  }
});

test('a session of another member cannot be ended', async () => {
  const [person, other] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const [theirs] = await sessionsOf(other);
  const answer = await browse(app, 'DELETE', `/account/sessions/${theirs?.guid}`, { as: person });
  assertError(answer, 404, 'not_found');
  assert.equal((await session(other)).status, 200);
});

test('logging out ends the session for every copy of the cookie', async () => {
  const person = await joinTeam(app, organizationGuid);
  const answer = await browse(app, 'POST', '/logout', { as: person, payload: {} });
  assert.equal(answer.status, 204);
  assert.match(
    String(answer.headers['set-cookie']),
    /^portico_session=; .*(Expires=Thu, 01 Jan 1970|Max-Age=0)/,
  );
  isOver(await session(person));
});

test('a password change ends every other session and invalidates the old password', async () => {
  const person = await joinTeam(app, organizationGuid);
  const other = browserOf(await logIn(app, person));
  const change = (current_password: string, new_password: string) =>
    browse(app, 'POST', '/account/password', { as: person, payload: { current_password, new_password } });
  assertError(await change('not the password', 'a brand new password'), 422, 'password_incorrect');
  assertError(await change(PASSWORD, 'short'), 422, 'password_too_weak');
  assert.equal((await session(other)).status, 200, 'a refused change ends no session');

  assert.equal((await change(PASSWORD, 'a brand new password')).status, 204);
  assert.equal((await session(person)).status, 200, 'the current session continues');
  isOver(await session(other));
  isOver(await logIn(app, person));
  assert.equal((await logIn(app, { ...person, password: 'a brand new password' })).status, 200);
});

test('a session beyond the limit ends the oldest one', async () => {
  const person = await joinTeam(app, organizationGuid);
  for (let i = 0; i < 19; i++) await logIn(app, person);
  assert.equal((await session(person)).status, 200);
  const newest = browserOf(await logIn(app, person));
  isOver(await session(person));
  assert.equal((await sessionsOf(newest)).length, 20);
});

test('expired sessions are swept', async () => {
  const person = await joinTeam(app, organizationGuid);
  app.clock.advance(7 * 24 * HOUR_MS);
  await app.login.sweep();
  const rows = await app.database.queries.selectFrom('sessions').select('guid').execute();
  assert.deepEqual(rows, []);
  isOver(await session(person));
});

test('a member changes their own name', async () => {
  const person = await joinTeam(app, organizationGuid);
  const rename = (payload: object) => browse(app, 'PATCH', '/account', { as: person, payload });
  const answer = await rename({ name: 'Ada Lovelace' });
  assert.equal((answer.body.member as { name: string }).name, 'Ada Lovelace');
  assertError(await rename({ name: ' ' }), 400, 'invalid_parameter');
});
