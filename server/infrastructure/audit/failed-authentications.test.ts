import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditItem, auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, PRODUCTION_HOST, userToken } from '../../../testing/app/tenant.ts';
import { createAuthenticator } from '../../../testing/people/authenticator.ts';
import { browse, joinTeam, logIn, tokenInLink } from '../../../testing/people/dashboard.ts';
import { codesOf } from '../../../testing/people/totp.ts';

const app = await createTestApp({
  environment: {
    PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '100000',
    PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '100000',
    PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '100000',
    PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '100000',
  },
});
const ATTACKER = '198.35.26.97';
const GUESS = 'a-guess-that-must-stay-secret';

async function recordsOf(objectId: string, options = {}): Promise<AuditItem[]> {
  await app.failedAuthentications.flush(options);
  return auditRecordsOf(app, objectId, 'authentication.fail');
}

type Guess = { path?: string; remoteAddress?: string; headers?: Record<string, string> };
const guessSecret = (
  clientId: string,
  { path = 'token', remoteAddress = ATTACKER, headers = {}, ...more }: Guess & Record<string, unknown> = {},
) =>
  app.call({
    method: 'POST',
    url: `/oauth/${path}`,
    headers,
    remoteAddress,
    payload: {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: GUESS,
      token: 'x',
      ...more,
    },
  });

const timesOf = (records: readonly AuditItem[]) => records.map(({ changes }) => Number(changes.times));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test('a wrong client secret is recorded for the Organization of the key, with the address', async () => {
  const { organizationGuid, bankKey } = await createTenant(app);
  const { headers } = await guessSecret(bankKey.clientId);
  const expected = {
    ...{ actor_type: 'anonymous', actor: 'anonymous', address: ATTACKER },
    ...{ action: 'authentication.fail', object_type: 'application', object_id: bankKey.clientId },
    changes: { reason: 'invalid_client', path: '/oauth/token', times: 1 },
    ...{ request_id: headers['x-request-id'], created_at: app.clock.now().toISOString() },
  };
  assert.deepEqual(soleRecord(await recordsOf(bankKey.clientId)), {
    organization_guid: organizationGuid,
    ...expected,
  });
  const token = await userToken(app, organizationGuid);
  const url = '/api/audit_entries?action=authentication.fail';
  assert.deepEqual(soleRecord(objectsOf(await app.call({ url, token })) as AuditItem[]), {
    ...expected,
    object_name: 'Key',
  });
});

test('every endpoint that takes the secret records a failure, and a correct secret is not recorded', async () => {
  for (const path of ['introspect', 'revoke', 'customer_token']) {
    const { bankKey } = await createTenant(app);
    const call = { path, customer_guid: 'x' };
    assertError(await guessSecret(bankKey.clientId, call), 401, 'invalid_client');
    const [record, ...more] = await recordsOf(bankKey.clientId);
    assert.deepEqual([record?.changes.path, more.length], [`/oauth/${path}`, 0]);
    const right = { ...call, client_secret: bankKey.secret };
    assert.notEqual((await guessSecret(bankKey.clientId, right)).status, 401);
    assert.equal((await recordsOf(bankKey.clientId, { all: true })).length, 1);
  }
});

test('an unknown client_id is recorded for the operator only, without its value', async () => {
  const before = (await recordsOf('unknown', { all: true })).length;
  for (const clientId of ['f'.repeat(32), `${GUESS}-as-id`]) await guessSecret(clientId);
  const records = await recordsOf('unknown', { all: true });
  assert.equal(sum(timesOf(records.slice(0, records.length - before))), 2);
  assert.ok(records.every((record) => !('organization_guid' in record)));
});

test('a wrong password of a member is recorded in each of their Organizations', async () => {
  const [first, second] = [await createTenant(app), await createTenant(app)];
  const person = await joinTeam(app, first.organizationGuid);
  const path = `/organizations/${second.organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email: person.email, role: 'viewer' });
  assert.equal(invited.status, 201);
  const accepted = { accepted_at: app.clock.now() };
  await app.database.queries.updateTable('memberships').set(accepted).execute();
  await logIn(app, { ...person, password: GUESS }, { remoteAddress: ATTACKER });
  const records = await recordsOf(person.memberGuid);
  assert.deepEqual(
    records
      .toReversed()
      .map((record) => [record.organization_guid, record.object_type, record.address, record.changes]),
    [first, second].map(({ organizationGuid }) => [
      organizationGuid,
      'account',
      ATTACKER,
      { reason: 'authentication_failed', path: '/dashboard/login', times: 1 },
    ]),
  );
  assert.equal((await logIn(app, person)).status, 200);
  assert.equal((await recordsOf(person.memberGuid, { all: true })).length, 2);
});

test('an unknown email address is recorded for the operator, without the address', async () => {
  const email = 'unknown@partner.example';
  const before = timesOf(await recordsOf('unknown', { all: true }));
  assertError(await logIn(app, { email, password: GUESS }), 401, 'authentication_failed');
  const records = await recordsOf('unknown', { all: true });
  assert.equal(sum(timesOf(records)), sum(before) + 1);
  const everything = await app.database.queries.selectFrom('audit_records').selectAll().execute();
  assert.ok(!JSON.stringify(everything).includes(email));
});

const signed = async () => {
  const { body } = await browse(app, 'POST', '/passkey_login/options', { payload: {} });
  const options = body as { challenge: string; challenge_id: string };
  return { challenge_id: options.challenge_id, response: createAuthenticator().get(options) };
};
type Attempt = readonly [method: 'POST' | 'DELETE', path: string, reason: string, wrong: () => unknown];
const ATTEMPTS: readonly Attempt[] = [
  ['POST', '/account/proof/password', 'password_incorrect', () => ({ password: GUESS })],
  ['POST', '/account/proof/totp', 'code_incorrect', () => ({ code: '000000' })],
  ['POST', '/account/proof/passkey', 'passkey_invalid', signed],
  [
    'POST',
    '/account/password',
    'password_incorrect',
    () => ({ current_password: GUESS, new_password: 'a brand new password' }),
  ],
  ['DELETE', '/account/totp', 'password_incorrect', () => ({ password: GUESS })],
];

for (const [method, path, reason, wrong] of ATTEMPTS)
  test(`a wrong credential sent to ${method} ${path} with a session is recorded`, async () => {
    const { organizationGuid } = await createTenant(app);
    const as = await joinTeam(app, organizationGuid);
    const payload = (await wrong()) as object;
    assertError(await browse(app, method, path, { as, payload, remoteAddress: ATTACKER }), 422, reason);
    const record = soleRecord(await recordsOf(as.memberGuid));
    assert.deepEqual(
      [record.organization_guid, record.object_type, record.address, record.changes],
      [organizationGuid, 'account', ATTACKER, { reason, path: `/dashboard${path}`, times: 1 }],
    );
  });

test('a wrong one-time password with a password reset link is recorded', async () => {
  const { organizationGuid } = await createTenant(app);
  const as = await joinTeam(app, organizationGuid);
  const { body: begun } = await browse(app, 'POST', '/account/totp', { as, payload: {} });
  const code = codesOf(app, begun.secret)();
  await browse(app, 'POST', '/account/totp/confirm', { as, payload: { code } });
  const { body } = await app.operate('POST', `/members/${as.memberGuid}/password_reset`, {});
  const payload = { token: tokenInLink(body.link), password: 'a brand new password', totp_code: code };
  assertError(await browse(app, 'POST', '/password', { payload }), 401, 'totp_invalid');
  const { changes } = soleRecord(await recordsOf(as.memberGuid));
  assert.deepEqual(changes, { reason: 'totp_invalid', path: '/dashboard/password', times: 1 });
});

test('a correct secret at the issuer of the other environment is recorded', async () => {
  for (const path of ['token', 'introspect', 'revoke', 'customer_token']) {
    const { organizationGuid, bankKey } = await createTenant(app);
    const right = { client_secret: bankKey.secret, customer_guid: 'x' };
    const headers = { host: PRODUCTION_HOST };
    assertError(await guessSecret(bankKey.clientId, { path, headers, ...right }), 401, 'invalid_client');
    const record = soleRecord(await recordsOf(bankKey.clientId));
    assert.deepEqual(
      [record.organization_guid, record.address, record.changes],
      [organizationGuid, ATTACKER, { reason: 'invalid_client', path: `/oauth/${path}`, times: 1 }],
    );
  }
});

test('the subject is looked up after the response', async () => {
  let isLookedUp = false;
  const failed = {
    objectType: 'account',
    reason: 'authentication_failed',
    path: '/dashboard/login',
  } as const;
  app.failedAuthentications.note({ ...failed, address: ATTACKER, requestId: '0'.repeat(32) }, async () => {
    isLookedUp = true;
    return undefined;
  });
  await new Promise((resolve) => process.nextTick(resolve));
  assert.equal(isLookedUp, false);
  await app.failedAuthentications.flush();
  assert.equal(isLookedUp, true);
});

test('a wrong operator token is recorded', async () => {
  const url = '/operator/organizations';
  assertError(await app.call({ url, token: GUESS, remoteAddress: ATTACKER }), 401, 'authentication_failed');
  const record = soleRecord(await recordsOf('operator'));
  assert.deepEqual(
    [record.object_type, record.address, record.changes],
    ['operator', ATTACKER, { reason: 'authentication_failed', path: url, times: 1 }],
  );
});

test('many failures from one address are two records, and from many addresses at most 22', async () => {
  const { bankKey } = await createTenant(app);
  await Promise.all(Array.from({ length: 60 }, () => guessSecret(bankKey.clientId)));
  assert.deepEqual(timesOf(await recordsOf(bankKey.clientId)), [1]);
  app.clock.advance(60_000);
  assert.deepEqual(timesOf(await recordsOf(bankKey.clientId)), [59, 1]);

  const { bankKey: other } = await createTenant(app);
  for (let index = 0; index < 60; index++)
    await guessSecret(other.clientId, { remoteAddress: `198.35.26.${index}` });
  const records = await recordsOf(other.clientId, { all: true });
  assert.ok(records.length <= 22, `${records.length} records`);
  assert.equal(sum(timesOf(records)), 60);
});

test('no guessed value is in the audit log or the log', async () => {
  const everything = await app.database.queries.selectFrom('audit_records').selectAll().execute();
  assert.ok(everything.length > 10);
  assert.ok(!JSON.stringify(everything).includes(GUESS));
  assert.ok(!app.logged.some((line) => line.includes(GUESS)));
});
