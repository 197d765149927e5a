import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant, type Key, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';

/** Default rate limits of the token endpoints per five minutes (contract, section 3). */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());
const WINDOW_MS = 300_000;
const FORM = 'application/x-www-form-urlencoded';

const tenant = await createTenant(app);
const { bankKey: key } = tenant;

type From = { at?: TestApp; address: string; secret?: string; url?: string };
const ask = ({ clientId, secret }: Key, from: From, more: object = {}) =>
  (from.at ?? app).call({
    method: 'POST',
    url: from.url ?? '/oauth/token',
    remoteAddress: from.address,
    payload: {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: from.secret ?? secret,
      scope: 'trades:read',
      ...more,
    },
  });

/** Concurrent requests; returns accepted responses first. */
async function askTimes(times: number, once: () => Promise<Answer>): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: times }, once));
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

function assertLimited(answer: Answer, retryAfter: number): void {
  const message = `Rate limit exceeded; try again in ${retryAfter} s`;
  assertError(answer, 403, 'rate_limit_exceeded', message);
  assert.equal(answer.body.error, 'forbidden');
  assert.equal(answer.headers['retry-after'], String(retryAfter));
}

/** Advances to `ms` after the start of the next window. */
function nextWindow(ms = 0): void {
  app.clock.advance(WINDOW_MS - (app.clock.now().getTime() % WINDOW_MS) + ms);
}

test('100 token requests per client and address, over all nodes, until Retry-After has passed', async () => {
  nextWindow(59_500);
  const address = '9.0.0.1';
  assert.deepEqual(await askTimes(60, () => ask(key, { address })), { 200: 60 });
  assert.deepEqual(await askTimes(60, () => ask(key, { address, at: second })), { 200: 40, 403: 20 });
  for (const at of [app, second]) assertLimited(await ask(key, { address, at }), 241);
  app.clock.advance(240_499);
  for (const at of [app, second]) assertLimited(await ask(key, { address, at }), 1);
  app.clock.advance(1);
  for (const at of [app, second]) assert.equal((await ask(key, { address, at })).status, 200);
});

test('guessing from another address does not lock a client out', async () => {
  nextWindow();
  const guess = () => ask(key, { address: '9.0.0.2', secret: 'wrong' });
  assert.deepEqual(await askTimes(150, guess), { 401: 100, 403: 50 });
  // The blocked address is refused even with the correct secret.
  assertLimited(await ask(key, { address: '9.0.0.2' }), 300);
  assert.equal((await ask(key, { address: '9.0.0.3' })).status, 200);
  // Other clients at that address are accepted until the limit of the address is reached.
  assert.equal((await ask(tenant.organizationKey, { address: '9.0.0.2' })).status, 200);
});

test('an address over the limit of wrong secrets still gets its source address', async () => {
  nextWindow();
  const from = { address: '9.0.0.9', secret: 'wrong', url: '/oauth/introspect' };
  const unknown = () => ({ clientId: crypto.randomUUID().replaceAll('-', ''), secret: 'x' });
  assert.deepEqual(await askTimes(301, () => ask(unknown(), from, { token: 'x' })), { 401: 300, 403: 1 });
  assertLimited(await ask(key, { ...from, secret: key.secret }, { token: 'x' }), 300);
  const call = { url: '/oauth/source_address', remoteAddress: from.address };
  assert.deepEqual((await app.call(call)).body, { address: from.address });
  assert.equal((await app.server.inject({ ...call, method: 'HEAD' })).statusCode, 200);
});

test('300 token requests per address, over all clients and nodes', async () => {
  nextWindow();
  const address = '9.0.0.4';
  const unknown = () => ({ clientId: crypto.randomUUID().replaceAll('-', ''), secret: 'x' });
  assert.deepEqual(await askTimes(299, () => ask(unknown(), { address })), { 401: 299 });
  assert.equal((await ask(key, { address, at: second })).status, 200);
  assertLimited(await ask(key, { address, at: second }), 300);
  assertLimited(await ask(key, { address }), 300);
  assert.equal((await ask(key, { address: '9.0.0.5' })).status, 200);
});

test('a flood with new client ids is refused without writes', async () => {
  const address = '9.0.0.4';
  const rows = async () =>
    (await app.database.queries.selectFrom('rate_limits').select('key').execute()).length;
  const before = await rows();
  const flood = () => ask({ clientId: crypto.randomUUID().replaceAll('-', ''), secret: 'x' }, { address });
  assert.deepEqual(await askTimes(50, flood), { 403: 50 });
  assert.equal(await rows(), before);
});

test('guessing at introspection, revocation and customer tokens is limited in the same way', async () => {
  nextWindow();
  const more = { token: 'x', customer_guid: '0'.repeat(32) };
  for (const [index, url] of ['/oauth/introspect', '/oauth/revoke', '/oauth/customer_token'].entries()) {
    const address = `9.0.1.${index}`;
    const guess = () => ask(key, { address, url, secret: 'wrong' }, more);
    // Sequential, since concurrent guesses may be checked before they are counted.
    for (let tried = 0; tried < 100; tried += 1) assert.equal((await guess()).status, 401);
    assertLimited(await guess(), 300);
    assertLimited(await ask(key, { address, url }, more), 300);
  }
});

test('introspection with the correct secret is not counted', async () => {
  nextWindow();
  const address = '9.0.2.1';
  const token = await tokenOf(app, key, 'trades:read');
  const introspect = () => ask(key, { address, url: '/oauth/introspect' }, { token });
  assert.deepEqual(await askTimes(350, introspect), { 200: 350 });
  assert.deepEqual(await askTimes(101, () => ask(key, { address })), { 200: 100, 403: 1 });
  // A client over its limit can still introspect and revoke tokens.
  assert.equal((await introspect()).status, 200);
  assert.equal((await ask(key, { address, url: '/oauth/revoke' }, { token })).status, 200);
});

test('200 customer tokens per client over both operations, both nodes and all addresses', async () => {
  nextWindow();
  const customer = { customer_guid: '0'.repeat(32) };
  const url = '/oauth/customer_token';
  let octet = 0;
  const bySecret = (at: TestApp) => ask(key, { url, at, address: `9.1.0.${octet++ % 250}` }, customer);
  const token = await tokenOf(app, key, 'customers:read customers:write');
  const payload = { ...customer, scopes: ['trades:read'] };
  const byToken = () => second.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
  assert.deepEqual(await askTimes(100, () => bySecret(app)), { 422: 100 });
  assert.deepEqual(await askTimes(60, () => bySecret(second)), { 422: 60 });
  assert.deepEqual(await askTimes(60, byToken), { 422: 40, 403: 20 });
  assertLimited(await byToken(), 300);
  assertLimited(await bySecret(app), 300);
  assert.equal((await ask(tenant.organizationKey, { url, address: '9.1.1.1' }, customer)).status, 422);
  nextWindow();
  assert.equal((await bySecret(app)).status, 422);
});

test('a stolen secret outside its allowlist uses up the limit of its address, not that of its owner', async () => {
  nextWindow();
  const owner = '9.3.0.1';
  const { bankKey: stolen } = await createTenant(app, { ipAllowlist: [owner] });
  const customerToken = (address: string) =>
    ask(stolen, { address, url: '/oauth/customer_token' }, { customer_guid: '0'.repeat(32) });
  for (const address of ['9.3.0.2', '9.3.0.3']) {
    // Sequential, since concurrent calls may be checked before they are counted.
    for (let call = 0; call < 100; call += 1)
      assertError(await customerToken(address), 403, 'ip_not_allowed');
    assertLimited(await customerToken(address), 300);
  }
  assert.equal((await customerToken(owner)).status, 422);
});

test('each limit is a setting', async () => {
  const strict = await createTestApp({
    testDatabase,
    clock: app.clock,
    environment: {
      PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '2',
      PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '3',
      PORTICO_RATE_LIMIT_CUSTOMER_TOKEN: '1',
    },
  });
  nextWindow();
  const address = '9.2.0.1';
  assert.deepEqual(await askTimes(3, () => ask(key, { address, at: strict })), { 200: 2, 403: 1 });
  const neighbour = () => ask(tenant.organizationKey, { address, at: strict });
  assert.equal((await ask(tenant.organizationKey, { address: '9.2.0.2', at: strict })).status, 200);
  assert.equal((await neighbour()).status, 403);
  const customer = { customer_guid: '0'.repeat(32) };
  const asked = () => ask(key, { address: '9.2.0.3', at: strict, url: '/oauth/customer_token' }, customer);
  assert.deepEqual(await askTimes(2, asked), { 422: 1, 403: 1 });
});

/** Requests that are refused before their credentials are read. */
const REFUSED_BODIES: Record<string, { payload: string; type?: string; length?: number; status: number }> = {
  'too large': { payload: `"${'a'.repeat(16 * 1_024)}"`, status: 413 },
  'declared too large': { payload: '{}', length: 1024 ** 2, status: 413 },
  malformed: { payload: '{', status: 400 },
  'of too many keys': { payload: `{${Array.from({ length: 101 }, (_, n) => `"${n}":0`)}}`, status: 400 },
  'nested too deeply': { payload: '['.repeat(33), status: 400 },
  'of too many parameters': { payload: 'a=&'.repeat(100), type: FORM, status: 400 },
  'of a repeated parameter': { payload: 'a=1&a=2', type: FORM, status: 400 },
  'of another type': { payload: 'x', type: 'text/plain', status: 415 },
  'without its fields': { payload: '{}', status: 400 },
  'without credentials': { payload: '{"grant_type":"x","token":"x","customer_guid":"x"}', status: 400 },
};

test('a refused body counts once, and a blocked source is refused before its body is read', async () => {
  const limited = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '3' } });
  let addresses = 0;
  for (const url of ['/oauth/token', '/oauth/customer_token', '/oauth/introspect', '/oauth/revoke'])
    for (const [what, { payload, type = 'application/json', length, status }] of Object.entries(
      REFUSED_BODIES,
    )) {
      const remoteAddress = `9.9.${++addresses >> 8}.${addresses & 255}`;
      const headers = {
        'content-type': type,
        ...(length === undefined ? {} : { 'content-length': String(length) }),
      };
      const send = (sent = payload) =>
        limited.call({ method: 'POST', url, remoteAddress, headers, payload: sent });
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1) statuses.push((await send()).status);
      assert.deepEqual(statuses, [status, status, status, 403], `${url}: ${what}`);
      assertError(await send(''), 403, 'rate_limit_exceeded');
    }
});

test('a request with readable credentials is counted once', async () => {
  const limited = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '3' } });
  const remoteAddress = '9.8.0.1';
  const payload = {
    grant_type: 'client_credentials',
    client_id: 'x',
    client_secret: 'x',
    scope: 'trades:read',
  };
  const send = () => limited.call({ method: 'POST', url: '/oauth/token', remoteAddress, payload });
  for (let n = 0; n < 3; n += 1) assertError(await send(), 401, 'invalid_client');
  assertError(await send(), 403, 'rate_limit_exceeded');
});
