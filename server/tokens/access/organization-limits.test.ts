import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { lockWaits, whileTableIsLocked } from '../../../testing/database/locks.ts';
import { createCustomer, customerToken } from '../../../testing/objects/customers.ts';
import { browse, dashboardToken, joinTeam, logIn } from '../../../testing/people/dashboard.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { PoolFull } from '../../infrastructure/database/failures.ts';

/** Limits per Organization: connections, calls in flight and calls per minute. */
const IN_FLIGHT = 4;
const PER_MINUTE = 60;
const app = await createTestApp({
  environment: { PORTICO_CALLS_IN_FLIGHT: String(IN_FLIGHT), PORTICO_RATE_LIMIT_API: String(PER_MINUTE) },
});
const dropped = await createTestDatabase();
const lost = await createTestApp({ testDatabase: dropped });

async function createCaller(of: TestApp) {
  const tenant = await createTenant(of, { features: ['webhooks'] });
  const customer = `/api/customers/${await createCustomer(of, tenant.bankGuid)}`;
  return { tenant, customer, token: await tokenOf(of, tenant.organizationKey, everyScope('organization')) };
}

const flooding = await createCaller(app);
const other = await createCaller(app);

const list = (token: string) => app.call({ url: '/api/transfers', token });
/** For calls that wait for a lock: unlike a list, it is not canceled after two seconds. */
const show = ({ customer, token }: { customer: string; token: string }) => app.call({ url: customer, token });

test('calls in flight beyond the limit get 429, other Organizations do not, and all are released', async () => {
  let inFlight: Promise<{ status: number }>[] = [];
  // The token is verified: the calls in flight are counted before the next one.
  assert.equal((await show(flooding)).status, 200);
  await whileTableIsLocked(app.database, 'objects', async () => {
    inFlight = Array.from({ length: IN_FLIGHT }, () => show(flooding));
    await until(async () => (await lockWaits(app.database.reserved)) === 2);
    const refused = await show(flooding);
    assertError(refused, 429, 'rate_limit_exceeded', /in flight/);
    assert.deepEqual([refused.body.error, refused.headers['retry-after']], ['too_many_requests', '1']);
    assert.equal((await app.call({ url: '/api/banks', token: other.token })).status, 200);
  });
  assert.deepEqual(
    (await Promise.all(inFlight)).map(({ status }) => status),
    Array.from({ length: IN_FLIGHT }, () => 200),
  );
  assert.equal((await show(flooding)).status, 200);
});

test('one Organization uses a part of the connections, so that others need not wait', async () => {
  let inFlight: Promise<unknown>[] = [];
  await whileTableIsLocked(app.database, 'objects', async () => {
    inFlight = Array.from({ length: IN_FLIGHT }, () => show(flooding));
    await until(async () => (await lockWaits(app.database.reserved)) === 2);
    // The other two would have run by now.
    assert.equal((await app.call({ url: '/api/banks', token: other.token })).status, 200);
    assert.equal(await lockWaits(app.database.reserved), 2);
  });
  await Promise.all(inFlight);
});

test('a call whose client disconnected counts until its query has ended', async () => {
  const { token, customer } = await createCaller(app);
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}` };
  await whileTableIsLocked(app.database, 'objects', async () => {
    const calls = Array.from({ length: IN_FLIGHT + 1 }, () =>
      request(`${url}${customer}`, { headers }).end(),
    );
    for (const call of calls) call.on('error', () => {});
    // The first response is a refusal, while all other calls are in flight.
    await Promise.race(calls.map((call) => new Promise((resolve) => call.once('response', resolve))));
    await until(async () => (await lockWaits(app.database.reserved)) === 2);
    for (const call of calls) call.destroy();
    await Promise.all(calls.map((call) => new Promise((resolve) => call.once('close', resolve))));
    assertError(await app.call({ url: '/api/banks', token }), 429, 'rate_limit_exceeded');
  });
  app.clock.advance(60_000);
  await until(async () => (await app.call({ url: '/api/banks', token })).status === 200);
});

test('a call whose client disconnects while its token is verified does not stay counted', async () => {
  // An Organization of its own: abandoned calls are counted later, in another test.
  const leaving = await createCaller(app);
  const { port } = app.server.server.address() as AddressInfo;
  const disconnect = ({ socket }: IncomingMessage) => socket.destroy();
  app.server.server.on('request', disconnect);
  for (let count = 0; count < 2 * IN_FLIGHT; count++) {
    // A token that is not in the cache is verified later than it arrives.
    const token = await tokenOf(app, leaving.tenant.organizationKey, 'banks:read');
    const headers = { authorization: `Bearer ${token}` };
    const call = request({ host: '127.0.0.1', port, path: '/api/banks', headers }).end();
    await new Promise((resolve) => call.once('error', resolve));
  }
  app.server.server.off('request', disconnect);
  await until(async () => (await app.call({ url: '/api/banks', token: leaving.token })).status === 200);
});

test('an Organization over its rate gets 429 for the rest of the minute without queries, others do not', async () => {
  app.clock.advance(60_000);
  const statuses = new Map<number, number>();
  for (let call = 0; call < PER_MINUTE + 5; call++) {
    const { status } = await list(flooding.token);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual(
    [...statuses],
    [
      [200, PER_MINUTE],
      [429, 5],
    ],
  );
  const refused = await list(flooding.token);
  assertError(refused, 429, 'rate_limit_exceeded', /try again in/);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  const { rows } = await sql<{ used: number }>`
    select used from rate_limits where key = ${`api:${flooding.tenant.organizationGuid}`}
    order by window_started_at desc limit 1`.execute(app.database.queries);
  // The first refusal was counted; the five after it came from memory.
  assert.equal(rows[0]?.used, PER_MINUTE + 1);
  assert.equal((await list(other.token)).status, 200);
});

test('the rate limit is checked after 401 and 403, and before the input', async () => {
  const { token } = flooding;
  assertError(await app.call({ url: '/api/transfers' }), 401, 'authentication_malformed');
  assertError(await app.call({ url: '/api/transfers', token: 'x.y.z' }), 401, 'authentication_failed');
  const narrow = await tokenOf(app, flooding.tenant.organizationKey, 'banks:read');
  assertError(await app.call({ url: '/api/transfers', token: narrow }), 403, 'invalid_scopes');
  assertError(await app.call({ url: '/api/members', token }), 403, 'invalid_scopes');
  assertError(await app.call({ url: '/api/transfers?nonsense=1', token }), 429, 'rate_limit_exceeded');
  app.clock.advance(60_000);
  assertError(await app.call({ url: '/api/transfers?nonsense=1', token }), 400, 'invalid_parameter');
});

test('refusals of one Organization are delayed, responses to others are not', async () => {
  app.clock.advance(60_000);
  const BURST = 100;
  const LATER = 20;
  const { token } = await createCaller(app);
  for (let call = 0; call < PER_MINUTE; call++) assert.equal((await list(token)).status, 200);
  assertError(await list(token), 429, 'rate_limit_exceeded');
  let answered = 0;
  const burst = Promise.withResolvers<void>();
  const calls = Array.from({ length: BURST + LATER }, () =>
    list(token).then(({ status }) => {
      assert.equal(status, 429);
      answered += 1;
      if (answered === BURST) burst.resolve();
    }),
  );
  await burst.promise;
  // It waits for the database, the refusals do not.
  assert.equal((await list(other.token)).status, 200);
  assert.equal(answered, BURST);
  app.clock.advance(1_000);
  await Promise.all(calls);
  assert.equal(answered, BURST + LATER);
});

/** Occupies all general connections and fills their queue. */
async function withPoolFull(work: () => Promise<void>): Promise<void> {
  const { queries } = app.database;
  // Its write would take one of the places in the queue.
  await app.requestRecorder.flush();
  const end = Promise.withResolvers<void>();
  /** A query that has waited for five seconds is refused: another one takes its place in the queue. */
  async function wait(): Promise<void> {
    try {
      await sql`select 1`.execute(queries);
    } catch (error) {
      if (!(error instanceof PoolFull)) throw error;
      await new Promise(setImmediate);
      await wait();
    }
  }
  const CONNECTIONS = 3;
  const begun = Array.from({ length: CONNECTIONS }, () => Promise.withResolvers<void>());
  const held = begun.map(({ resolve }) =>
    queries.connection().execute(async (connection) => {
      await sql`select 1`.execute(connection);
      resolve();
      await end.promise;
    }),
  );
  await Promise.all(begun.map(({ promise }) => promise));
  const waiting = Array.from({ length: CONNECTIONS * 25 }, wait);
  await new Promise(setImmediate);
  await work().finally(end.resolve);
  await Promise.all([...held, ...waiting]);
}

test('with all connections in use a call gets 503, but tokens are issued and verified', async () => {
  await withPoolFull(async () => {
    const answer = await list(other.token);
    assertError(answer, 503, 'overloaded');
    assert.deepEqual([answer.body.error, answer.headers['retry-after']], ['unavailable', '1']);
    const fresh = await tokenOf(app, other.tenant.bankKey, 'transfers:read');
    assertError(await list(fresh), 503, 'overloaded');
  });
  assert.equal((await list(other.token)).status, 200);
});

test('with all connections in use /oauth and the dashboard still authenticate', async () => {
  const { tenant, token: introspected } = other;
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const person = await joinTeam(app, tenant.organizationGuid);
  const { clientId, secret } = tenant.organizationKey;
  const credentials = { client_id: clientId, client_secret: secret };
  const oauth = (path: string, payload: object) =>
    app.call({ method: 'POST', url: `/oauth/${path}`, payload: { ...credentials, ...payload } });
  await withPoolFull(async () => {
    const grant = { grant_type: 'client_credentials', scope: 'transfers:read' };
    const issued = await oauth('customer_token', { ...grant, customer_guid: customerGuid });
    assert.equal(issued.status, 200, JSON.stringify(issued.body));
    assert.equal((await oauth('introspect', { token: introspected })).body.active, true);
    const token = await tokenOf(app, tenant.organizationKey, 'transfers:read');
    const revoked = await oauth('revoke', { token });
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
    assert.equal((await oauth('introspect', { token })).body.active, false);
    const loggedIn = await logIn(app, person);
    assert.equal(loggedIn.status, 200, JSON.stringify(loggedIn.body));
    await dashboardToken(app, person, tenant.organizationGuid);
    assert.equal((await browse(app, 'POST', '/logout', { as: person, payload: {} })).status, 204);
    const wrong = await app.call({ url: '/operator/organizations', token: 'wrong' });
    assertError(wrong, 401, 'authentication_failed');
  });
});

test('a customer over its tenth of the rate gets 429, and its Organization and other customers do not', async () => {
  app.clock.advance(60_000);
  const { tenant, token } = other;
  const [device, sibling] = await Promise.all(
    [1, 2].map(async () =>
      customerToken(app, tenant, await createCustomer(app, tenant.bankGuid), ['transfers:read']),
    ),
  );
  for (let call = 0; call < PER_MINUTE / 10; call++) assert.equal((await list(device ?? '')).status, 200);
  // Would use up the Organization's limit if refusals counted against it.
  for (let call = 0; call < PER_MINUTE; call++)
    assertError(await list(device ?? ''), 429, 'rate_limit_exceeded', /try again in/);
  assert.equal((await list(sibling ?? '')).status, 200);
  assert.equal((await list(token)).status, 200);
});

test('a customer with a tenth of the calls in flight gets 429, and its Organization does not', async () => {
  app.clock.advance(60_000);
  const { tenant, token } = other;
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const device = {
    customer: `/api/customers/${customerGuid}`,
    token: await customerToken(app, tenant, customerGuid, ['customers:read']),
  };
  let inFlight: Promise<{ status: number }> | undefined;
  await whileTableIsLocked(app.database, 'objects', async () => {
    inFlight = show(device);
    await until(async () => (await lockWaits(app.database.reserved)) === 1);
    assertError(await show(device), 429, 'rate_limit_exceeded', /calls of this customer are in flight/);
    assert.equal((await app.call({ url: '/api/banks', token })).status, 200);
  });
  assert.equal((await inFlight)?.status, 200);
  assert.equal((await show(device)).status, 200);
});

test('without a database a call gets 503', async () => {
  const { token } = await createCaller(lost);
  await dropped.drop();
  const answer = await lost.call({ url: '/api/transfers', token });
  assertError(answer, 503, 'database_unavailable');
  assert.equal(answer.headers['retry-after'], '1');
});
