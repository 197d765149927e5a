import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import pg from 'pg';
import { type Answer, assertError, createTestApp, type TestApp } from '../../../testing/app.ts';
import { createTestDatabase } from '../../../testing/database.ts';
import { createTenant, tokenOf } from '../../../testing/tenant.ts';

/** What happens to revocations when a node cannot keep up: it stops trusting its memory. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const firstNode = await onlyNode();
const second = await createTestApp({ testDatabase, clock: first.clock });
const { bankKey } = await createTenant(first);

const connectionString = testDatabase.url.reveal();
/** One looks at what happens, the other holds a lock meanwhile. */
const [control, blocker] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
await Promise.all([control.connect(), blocker.connect()]);
after(async () => {
  await Promise.all([control.end(), blocker.end()]);
  await testDatabase.drop();
});

async function onlyNode(): Promise<string> {
  const nodes = first.database.queries.selectFrom('verifying_nodes').select('guid');
  return (await nodes.executeTakeFirstOrThrow()).guid;
}

const use = (app: TestApp, token: string) => app.call({ url: '/api/customers', token });
const revoke = (token: string, at: TestApp) =>
  at.call({
    method: 'POST',
    url: '/oauth/revoke',
    payload: { client_id: bankKey.clientId, client_secret: bankKey.secret, token },
  });

/** Asks the database again and again until it says so. */
async function until(condition: string, ...values: unknown[]): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const { rows } = await control.query(`select (${condition}) as met`, values);
    if (rows[0].met) return;
    assert.ok(performance.now() < deadline, `still not: ${condition}`);
  }
}

const listening = `(select count(*)::int from pg_stat_activity
  where application_name = 'portico listen' and datname = current_database())`;

async function knownToken(): Promise<string> {
  const token = await tokenOf(first, bankKey, 'customers:read');
  for (const app of [first, second, first, second]) assert.equal((await use(app, token)).status, 200);
  return token;
}

test('the answer waits for a node that hangs, and comes when that node has stopped trusting its memory', async () => {
  const token = await knownToken();
  // The second node can no longer write its lease; it waits for this lock.
  await blocker.query('begin');
  await blocker.query('select 1 from verifying_nodes where guid <> $1 for update', [firstNode]);
  await until(`exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and query like '%verifying_nodes%' and datname = current_database())`);
  let answered = false;
  const revoking = revoke(token, first).finally(() => {
    answered = true;
  });
  await until(`exists (select 1 from revocations where subject = $1)`, jtiOf(token));
  // It has not heard of it, and its lease still runs: that is why the answer has to wait.
  assert.equal((await use(second, token)).status, 200);
  assert.equal(answered, false);
  first.clock.advance(5_000);
  assert.equal((await revoking).status, 200);
  assertError(await use(second, token), 401, 'authentication_failed', 'The access token is not valid');
  assert.equal((await use(second, await tokenOf(first, bankKey, 'customers:read'))).status, 200);
  await blocker.query('rollback');
});

test('a node that takes its lease again knows what was revoked while it had none', async () => {
  const token = await knownToken();
  const { sub = '', jti = '' } = decodeJwt(token);
  await blocker.query('begin');
  await blocker.query('select 1 from verifying_nodes where guid <> $1 for update', [firstNode]);
  first.clock.advance(5_000);
  await until(`exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and query like '%verifying_nodes%' and datname = current_database())`);
  // The second node is about to take its lease. Nobody waits for a node without one.
  assert.equal((await revoke(token, first)).status, 200);
  assert.equal(second.revocations.isUpToDate(), false);
  await blocker.query('rollback');
  const deadline = performance.now() + 20_000;
  while (!second.revocations.isUpToDate() && performance.now() < deadline) await setImmediate();
  // From memory, and at once: had it read before it took the lease, nobody would have told it.
  assert.equal(second.revocations.check({ sub, jti }), true);
});

test('a node whose listening connection was cut off is waited for, and listens again', async () => {
  const token = await knownToken();
  await until(`${listening} = 2`);
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'portico listen' and datname = current_database()`;
  assert.equal((await control.query(cut)).rowCount, 2);
  assert.equal((await revoke(token, first)).status, 200);
  for (const app of [first, second]) assertError(await use(app, token), 401, 'authentication_failed');
  await until(`${listening} = 2`);
  const another = await knownToken();
  assert.equal((await revoke(another, second)).status, 200);
  for (const app of [first, second]) assertError(await use(app, another), 401, 'authentication_failed');
});

test('a node that lost every connection recovers, and accepts nothing revoked meanwhile', async () => {
  const [gone, kept] = [await knownToken(), await knownToken()];
  assert.equal((await revoke(gone, first)).status, 200);
  const { rows } = await control.query(`select pid, pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'portico%' and datname = current_database()`);
  assert.ok(rows.length > 2);
  const pids = rows.map(({ pid }) => pid);
  await until('not exists (select 1 from pg_stat_activity where pid = any($1))', pids);
  first.clock.advance(60_000);
  for (const app of [first, second]) {
    const refused = await useAfterCut(app, gone, pids.length);
    assertError(refused, 401, 'authentication_failed', 'The access token is not valid');
    assert.equal((await useAfterCut(app, kept, pids.length)).status, 200);
  }
});

/**
 * The first answer that does not come from a cut connection. Until the pool has read the end of a cut connection it may
 * hand it out: 503 is the right answer to that call, and the connection is gone after it, so there is at most one such
 * answer for each.
 */
async function useAfterCut(app: TestApp, token: string, cutConnections: number): Promise<Answer> {
  for (let refused = 0; refused <= cutConnections; refused += 1) {
    const answer = await use(app, token);
    if (answer.status !== 503) return answer;
    assertError(answer, 503, 'database_unavailable');
    assert.equal(answer.headers['retry-after'], '1');
  }
  assert.fail('more refused calls than cut connections');
}

test('a node that stopped is not waited for', async () => {
  const token = await knownToken();
  await second.revocations.stop();
  const { rows } = await control.query('select count(*)::int as nodes from verifying_nodes');
  assert.equal(rows[0].nodes, 1);
  assert.equal((await revoke(token, first)).status, 200);
  // It no longer follows, so it asks the database.
  assertError(await use(second, token), 401, 'authentication_failed');
});

function jtiOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
}
