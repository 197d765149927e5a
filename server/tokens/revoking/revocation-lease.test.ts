import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import pg from 'pg';
import { type Answer, assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { PATIENCE_MS } from '../../../testing/app/patience.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';

/** Revocations while a node cannot renew its lease: it checks the database instead of its memory. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const firstNode = await onlyNode();
const second = await createTestApp({ testDatabase, clock: first.clock });
const { bankKey } = await createTenant(first);

const connectionString = testDatabase.url.reveal();
/** Connections of the test: one reads, the other holds a lock. */
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

/** Polls the database until the condition holds. */
async function until(condition: string, ...values: unknown[]): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
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

test('a revocation waits for a hanging node until its lease has expired', async () => {
  const token = await knownToken();
  // This lock blocks the second node's lease renewal.
  await blocker.query('begin');
  await blocker.query('select 1 from verifying_nodes where guid <> $1 for update', [firstNode]);
  await until(`exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and query like '%verifying_nodes%' and datname = current_database())`);
  let answered = false;
  const revoking = revoke(token, first).finally(() => {
    answered = true;
  });
  await until(`exists (select 1 from revocations where subject = $1)`, jtiOf(token));
  // The second node has a valid lease and does not know the revocation yet, so the call must wait.
  assert.equal((await use(second, token)).status, 200);
  assert.equal(answered, false);
  // Its clock may be three seconds behind (found by seed 19 of the simulation): it asks the database before that.
  first.clock.advance(5_000);
  assertError(await use(second, token), 401, 'authentication_failed', 'The access token is not valid');
  assert.equal(answered, false);
  first.clock.advance(3_000);
  assert.equal((await revoking).status, 200);
  assertError(await use(second, token), 401, 'authentication_failed', 'The access token is not valid');
  assert.equal((await use(second, await tokenOf(first, bankKey, 'customers:read'))).status, 200);
  await blocker.query('rollback');
});

test('a node that renews its lease knows the revocations it missed', async () => {
  const token = await knownToken();
  const { sub = '', jti = '' } = decodeJwt(token);
  await blocker.query('begin');
  await blocker.query('select 1 from verifying_nodes where guid <> $1 for update', [firstNode]);
  first.clock.advance(8_000);
  await until(`exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and query like '%verifying_nodes%' and datname = current_database())`);
  // The second node is about to take its lease. Revocations do not wait for nodes without one.
  assert.equal((await revoke(token, first)).status, 200);
  assert.equal(second.revocations.isUpToDate(), false);
  await blocker.query('rollback');
  const deadline = performance.now() + PATIENCE_MS;
  while (!second.revocations.isUpToDate() && performance.now() < deadline) await setImmediate();
  // Checked in memory: a node that read before taking the lease would have missed the revocation.
  assert.equal(second.revocations.isRevoked([sub, jti]), true);
});

test('a revocation waits for a node whose LISTEN connection was cut, which reconnects', async () => {
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

test('a node that lost every connection recovers and accepts no token revoked meanwhile', async () => {
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

/** First response other than 503. The pool may hand out each cut connection once, and the call on it gets 503. */
async function useAfterCut(app: TestApp, token: string, cutConnections: number): Promise<Answer> {
  for (let refused = 0; refused <= cutConnections; refused += 1) {
    const answer = await use(app, token);
    if (answer.status !== 503) return answer;
    assertError(answer, 503, 'database_unavailable');
    assert.equal(answer.headers['retry-after'], '1');
  }
  assert.fail('more refused calls than cut connections');
}

test('a revocation does not wait for a stopped node', async () => {
  const token = await knownToken();
  await second.revocations.stop();
  const { rows } = await control.query('select count(*)::int as nodes from verifying_nodes');
  assert.equal(rows[0].nodes, 1);
  assert.equal((await revoke(token, first)).status, 200);
  // Without a lease it checks the database.
  assertError(await use(second, token), 401, 'authentication_failed');
});

function jtiOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
}
