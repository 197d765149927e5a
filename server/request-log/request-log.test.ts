import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, everyScope, PRODUCTION_HOST, type Tenant, tokenOf } from '../../testing/app/tenant.ts';
import { dashboardToken, joinTeam } from '../../testing/people/dashboard.ts';
import type { Role } from '../tokens/roles.ts';

const app = await createTestApp();
const INSIDE = '198.35.26.96';
const HOUR_MS = 3_600_000;

type Open = { tenant: Tenant; token: string };

/** A tenant of its own for each test, whose own token request is the oldest call. */
async function open(): Promise<Open> {
  const tenant = await createTenant(app, { ipAllowlist: [INSIDE] });
  return { tenant, token: await tokenOf(app, tenant.organizationKey, everyScope('organization')) };
}

async function list({ token }: { token: string }, query = '', remoteAddress = INSIDE) {
  await app.requestRecorder.flush();
  const answer = await app.call({ url: `/api/request_log${query}`, token, remoteAddress });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return objectsOf(answer);
}

const call = (token: string, url: string, options: object = {}) =>
  app.call({ url, token, remoteAddress: INSIDE, ...options });

test('a call is logged with pattern, outcome, key, address and request id', async () => {
  const { tenant, token } = await open();
  const { headers } = await call(token, `/api/banks/${tenant.bankGuid}?x=secret`);
  assert.ok(headers);
  const [newest, issued] = await list({ token });
  const { duration_ms, ...entry } = newest ?? {};
  assert.equal(typeof duration_ms, 'number');
  assert.deepEqual(entry, {
    request_id: headers['x-request-id'],
    created_at: app.clock.now().toISOString(),
    environment: 'sandbox',
    method: 'GET',
    path: '/api/banks/{guid}',
    object_guid: tenant.bankGuid,
    status: 400,
    message_code: 'invalid_parameter',
    token_type: 'organization',
    client_id: tenant.organizationKey.clientId,
    application_name: 'Key',
    address: INSIDE,
    sample_rate: 1,
  });
  const { method, path, status, client_id, token_type } = issued ?? {};
  assert.deepEqual(
    [method, path, status, client_id, token_type],
    ['POST', '/oauth/token', 200, tenant.organizationKey.clientId, undefined],
  );
});

test('denied calls are logged: address, scope, wrong secret, expired and revoked tokens', async () => {
  const { tenant, token } = await open();
  const { clientId: client_id, secret } = tenant.organizationKey;
  assertError(
    await app.call({ url: '/api/banks', token, remoteAddress: '192.0.2.1' }),
    403,
    'ip_not_allowed',
  );
  const narrow = await tokenOf(app, tenant.organizationKey, 'banks:read');
  assertError(await call(narrow, '/api/customers'), 403, 'invalid_scopes');
  const grant = { grant_type: 'client_credentials', client_id, scope: 'banks:read' };
  const post = (url: string, payload: object) => app.call({ method: 'POST', url, payload });
  assertError(await post('/oauth/token', { ...grant, client_secret: 'wrong' }), 401, 'invalid_client');
  const revoked = await tokenOf(app, tenant.organizationKey, 'banks:read');
  const revocation = await post('/oauth/revoke', { client_id, client_secret: secret, token: revoked });
  assert.equal(revocation.status, 200);
  assertError(await call(revoked, '/api/banks'), 401, 'authentication_failed');
  app.clock.advance(HOUR_MS);
  assertError(await call(token, '/api/banks'), 401, 'authentication_failed');
  const now = await tokenOf(app, tenant.organizationKey, everyScope('organization'));
  const refused = await list({ token: now }, '?status=4xx');
  assert.deepEqual(
    refused.map(({ message_code, path, address }) => [message_code, path, address]),
    [
      ['authentication_failed', '/api/banks', INSIDE],
      ['authentication_failed', '/api/banks', INSIDE],
      ['invalid_client', '/oauth/token', '127.0.0.1'],
      ['invalid_scopes', '/api/customers', INSIDE],
      ['ip_not_allowed', '/api/banks', '192.0.2.1'],
    ],
  );
  assert.ok(refused.every((entry) => entry.client_id === client_id));
  assert.ok(!JSON.stringify(refused).includes('wrong'));
});

test('calls without a known caller are not logged', async () => {
  await app.requestRecorder.flush();
  const before = await app.database.queries.selectFrom('request_log').selectAll().execute();
  await app.call({ url: '/api/banks' });
  await app.call({ url: '/api/banks', token: 'a.b.c' });
  await app.call({
    method: 'POST',
    url: '/oauth/token',
    payload: { grant_type: 'client_credentials', client_id: '0'.repeat(32), client_secret: 'x', scope: 'x' },
  });
  await app.requestRecorder.flush();
  assert.equal(
    (await app.database.queries.selectFrom('request_log').selectAll().execute()).length,
    before.length,
  );
});

test('filters narrow the list, alone and together', async () => {
  const { tenant, token } = await open();
  await call(token, '/api/banks');
  await call(token, `/api/banks/${tenant.bankGuid}`);
  app.clock.advance(60_000);
  const until = app.clock.now().toISOString();
  const { headers } = await call(token, '/api/banks/0');
  const paths = async (query: string) =>
    (await list({ token }, query)).map(({ path, status }) => `${path} ${status}`);
  const [all, one, missing] = ['/api/banks 200', '/api/banks/{guid} 200', '/api/banks/{guid} 404'];
  const oauth = '/oauth/token 200';
  assert.deepEqual(await paths(`?created_at_lt=${until}`), [one, all, oauth]);
  assert.deepEqual(await paths(`?created_at_gte=${until}&path=/api/banks/{guid}`), [missing]);
  assert.deepEqual(await paths('?method=POST'), [oauth]);
  assert.deepEqual(await paths(`?method=GET&created_at_lt=${until}`), [one, all]);
  assert.deepEqual(await paths('?path=/api/banks,/oauth/token'), [all, oauth]);
  assert.deepEqual(await paths('?status=404'), [missing]);
  assert.deepEqual(await paths('?status=4xx,5xx&method=GET'), [missing]);
  assert.deepEqual(await paths(`?status=2xx&path=/api/banks/{guid}`), [one]);
  assert.deepEqual(await paths('?message_code=not_found'), [missing]);
  assert.deepEqual(await paths('?message_code=invalid_scopes'), []);
  assert.deepEqual(await paths(`?client_id=${tenant.organizationKey.clientId}&status=404`), [missing]);
  assert.deepEqual(await paths(`?client_id=${tenant.bankKey.clientId}`), []);
  assert.deepEqual(await paths('?address=127.0.0.1'), [oauth]);
  assert.deepEqual(await paths(`?request_id=${headers['x-request-id']}`), [missing]);
  assert.deepEqual(await paths(`?request_id=${headers['x-request-id']}&status=200`), []);
  assert.deepEqual(await paths(`?request_id=${headers['x-request-id']}&created_at_gte=2000-01-01`), [
    missing,
  ]);
  assert.deepEqual(await paths(`?request_id=${headers['x-request-id']}&created_at_lt=2000-01-01`), []);
  assert.deepEqual(await paths('?environment=production'), []);
  for (const query of ['?status=4x', '?status=700', '?method=get', '?request_id=1', '?client_id=1'])
    assertError(await call(token, `/api/request_log${query}`), 400, 'invalid_parameter');
  const first = await call(token, '/api/request_log?per_page=1&path=/api/banks/{guid}');
  const second = await call(token, `/api/request_log?path=/api/banks/{guid}&after=${first.body.next}`);
  assert.equal(first.body.total, 2);
  assert.deepEqual(
    objectsOf(second).map(({ status }) => status),
    [200],
  );
});

test('each environment, bank and Organization sees its own calls only', async () => {
  const { tenant, token } = await open();
  const scope = 'bank_applications:read banks:read';
  const inProduction = await tokenOf(app, tenant.organizationKey, scope, { host: PRODUCTION_HOST });
  await call(inProduction, '/api/banks');
  const ofBank = await tokenOf(app, tenant.bankKey, scope);
  const stranger = await open();
  const paths = async (as: string, query = '') =>
    (await list({ token: as }, query)).map(({ path, client_id }) => [path, client_id]);
  const { organizationKey, bankKey } = tenant;
  assert.deepEqual(await paths(inProduction), [
    ['/api/banks', organizationKey.clientId],
    ['/oauth/token', organizationKey.clientId],
  ]);
  assert.deepEqual(await paths(ofBank), [['/oauth/token', bankKey.clientId]]);
  assert.deepEqual(await paths(ofBank, `?client_id=${organizationKey.clientId}`), []);
  assert.deepEqual(await paths(token, `?bank_guid=${tenant.bankGuid}&path=/oauth/token`), [
    ['/oauth/token', bankKey.clientId],
  ]);
  const [foreign] = await list(stranger);
  assert.deepEqual(await paths(token, `?request_id=${foreign?.request_id}`), []);
});

test('of people, changes and refused calls are logged; addresses of email are for members', async () => {
  const { tenant, token } = await open();
  const { organizationGuid, bankGuid } = tenant;
  const person = await joinTeam(app, organizationGuid, { email: 'ada@partner.example' });
  const theirs = await dashboardToken(app, person, organizationGuid);
  await call(theirs, '/api/banks');
  await call(theirs, '/api/banks/0');
  await call(theirs, `/api/banks/${bankGuid}`, { method: 'PATCH', payload: { name: 'Renamed' } });
  const seen = (entries: Record<string, unknown>[]) =>
    entries
      .filter(({ token_type }) => token_type === 'user')
      .map(({ method, status, member_guid, member_email }) => [method, status, member_guid, member_email]);
  assert.deepEqual(seen(await list({ token: theirs })), [
    ['PATCH', 200, person.memberGuid, 'ada@partner.example'],
    ['GET', 404, person.memberGuid, 'ada@partner.example'],
  ]);
  assert.deepEqual(seen(await list({ token })), [
    ['PATCH', 200, person.memberGuid, undefined],
    ['GET', 404, person.memberGuid, undefined],
  ]);
});

test('every role sees the log', async () => {
  const { tenant } = await open();
  for (const role of ['founder', 'key_admin', 'developer', 'viewer'] as Role[]) {
    const person = await joinTeam(app, tenant.organizationGuid, { role });
    const theirs = await dashboardToken(app, person, tenant.organizationGuid);
    assert.ok((await list({ token: theirs }, '?path=/oauth/token')).length > 0, role);
  }
});
