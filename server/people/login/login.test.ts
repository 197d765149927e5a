import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import * as argon2 from '@node-rs/argon2';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { browse, browserOf, joinTeam, logIn, PASSWORD } from '../../../testing/people/dashboard.ts';
import type { PasswordHasher } from './passwords/passwords.ts';

const environment = {
  PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000',
};
/** Argon2id, 19 MiB, two passes, one lane. */
const RECOMMENDED = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
function costOfHash(hash: string) {
  const { algorithm, memoryCost, timeCost, parallelism } = argon2.parseOptions(hash);
  return { algorithm, memoryCost, timeCost, parallelism };
}
/** Argon2 parameters of each compared hash. */
const hashed: object[] = [];
const passwordHasher: PasswordHasher = {
  hash: argon2.hash,
  verify(stored, ...rest) {
    hashed.push(costOfHash(String(stored)));
    return argon2.verify(stored, ...rest);
  },
};
const app = await createTestApp({ environment, passwordHasher });
const { organizationGuid } = await createTenant(app);
const ada = await joinTeam(app, organizationGuid, { email: 'ada@partner.example' });

test('the correct password starts a session, which shows the member and the Organizations', async () => {
  const answer = await logIn(app, ada);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const { member, organizations, ...rest } = answer.body;
  assert.deepEqual(member, {
    guid: ada.memberGuid,
    email: 'ada@partner.example',
    has_totp: false,
    passkey_count: 0,
  });
  assert.deepEqual(organizations, [
    {
      ...{ guid: organizationGuid, name: 'Acme', live: false, features: ['webhooks', 'files'] },
      ...{ role: 'founder', second_factor: 'never' },
    },
  ]);
  const { version, ...surroundings } = rest;
  assert.equal(typeof version, 'string');
  assert.deepEqual(surroundings, {
    second_factor: false,
    support_email: 'support@portico.example',
    environments: ['sandbox', 'production'],
    allowlist_policy: 'required',
    allowlist_min_prefix: 16,
    token_urls: {
      sandbox: 'http://localhost:4000/oauth/token',
      production: 'http://production.localhost:4000/oauth/token',
    },
    address: '127.0.0.1',
  });
  const session = await browse(app, 'GET', '/session', { as: browserOf(answer) });
  assert.deepEqual(session.body, answer.body);
});

test('email addresses are compared without case and surrounding spaces', async () => {
  assert.equal((await logIn(app, { ...ada, email: 'ADA@Partner.example' })).status, 200);
});

test('unknown address, wrong password and missing password get the same response', async () => {
  const path = `/organizations/${organizationGuid}/members`;
  await app.operate('POST', path, { email: 'invited@partner.example', role: 'viewer' });
  const wrong = await logIn(app, { ...ada, password: 'not the password' });
  assertError(wrong, 401, 'authentication_failed');
  assert.equal(wrong.headers['set-cookie'], undefined);
  for (const email of ['unknown@partner.example', 'invited@partner.example']) {
    const answer = await logIn(app, { email, password: PASSWORD });
    assert.deepEqual([answer.status, answer.body], [wrong.status, wrong.body]);
    const names = (headers: object) => Object.keys(headers).sort();
    assert.deepEqual(names(answer.headers), names(wrong.headers));
  }
});

test('an unknown address costs the same hashes and audit lookups as a known one', async () => {
  const lookUps = mock.method(app.members, 'organizationsOf').mock;
  async function costOf(email: string) {
    await app.failedAuthentications.flush();
    hashed.length = 0;
    lookUps.resetCalls();
    assertError(await logIn(app, { email, password: 'not the password' }), 401, 'authentication_failed');
    await app.failedAuthentications.flush();
    return { hashed: [...hashed], lookUps: lookUps.callCount() };
  }
  const expected = { hashed: [RECOMMENDED], lookUps: 1 };
  for (const email of [ada.email, 'unknown@partner.example', 'invited@partner.example'])
    assert.deepEqual(await costOf(email), expected, email);
  lookUps.restore();
});

test('passwords are stored only as argon2id with the recommended parameters', async () => {
  const rows = await app.database.queries.selectFrom('logins').select('password_hash').execute();
  for (const { password_hash: hash } of rows) {
    assert.deepEqual(costOfHash(String(hash)), RECOMMENDED);
  }
  assert.doesNotMatch(app.logged.join(), new RegExp(PASSWORD));
});

test('passwords are compared in Unicode form NFKC', async () => {
  const person = await joinTeam(app, organizationGuid);
  const payload = { current_password: PASSWORD, new_password: 'Zwölf Boxkämpfer jagen' };
  const changed = await browse(app, 'POST', '/account/password', { as: person, payload });
  assert.equal(changed.status, 204, JSON.stringify(changed.body));
  for (const form of ['NFC', 'NFD'])
    assert.equal(
      (await logIn(app, { ...person, password: payload.new_password.normalize(form) })).status,
      200,
      form,
    );
});

test('an invalid session gets 401 on every route behind the guard', async () => {
  for (const cookie of ['', 'portico_session=', 'portico_session=x', '__Host-portico_session=x'])
    for (const [method, path] of [
      ['GET', '/session'],
      ['POST', '/token'],
      ['GET', '/account/sessions'],
      ['DELETE', '/account/totp'],
    ] as const)
      assertError(await browse(app, method, path, { as: { cookie } }), 401, 'authentication_failed');
});

test('logins are counted by method and result', async () => {
  const count = async (result: string) => {
    const { values } = await app.metrics.logins.get();
    const found = values.find(({ labels }) => labels.method === 'password' && labels.result === result);
    return found?.value ?? 0;
  };
  const before = [await count('completed'), await count('authentication_failed')];
  await logIn(app, ada);
  await logIn(app, { ...ada, password: 'x' });
  const now = [await count('completed'), await count('authentication_failed')];
  assert.deepEqual(
    now,
    before.map((times) => times + 1),
  );
});
