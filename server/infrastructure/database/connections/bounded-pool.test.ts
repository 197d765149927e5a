import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { createLog } from '../../runtime/log.ts';
import { Secret } from '../../runtime/secret.ts';
import { createDatabase, type Database, type Queries } from '../database.ts';
import { failureOfDatabase, ListTimeout, PoolFull } from '../failures.ts';
import type { Tables } from '../tables.ts';
import { withListTimeout } from './bounded-pool.ts';

const MAX_WAITING = 25;
const log = createLog({ level: 'silent', terminal: false });
const testDatabase = await createTestDatabase();
const database = createDatabase({ url: testDatabase.url, connections: 2, reserved: 1, log });
after(async () => {
  await database.close();
  await testDatabase.drop();
});

const one = (queries: Queries) => sql`select 1`.execute(queries);
const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it passed'),
    (error) => error,
  );

/** Holds the only general connection while `work` runs. */
async function withPoolInUse(work: () => Promise<void>): Promise<void> {
  await database.queries.connection().execute(async (connection) => {
    await one(connection);
    await work();
  });
}

test('a query over the waiting limit fails at once, and the waiting ones are served', async () => {
  let waiting: Promise<unknown>[] = [];
  await withPoolInUse(async () => {
    waiting = Array.from({ length: MAX_WAITING }, () => one(database.queries));
    // Kysely acquires a connection in a later turn of the event loop.
    await new Promise(setImmediate);
    const error = await thrownBy(one(database.queries));
    assert.ok(error instanceof PoolFull);
    assert.equal(failureOfDatabase(error)?.code, 'overloaded');
    assert.equal(failureOfDatabase(error)?.retryAfterSeconds, 1);
  });
  await Promise.all(waiting);
});

test('the reserved connections answer while all others are in use', async () => {
  await withPoolInUse(async () => void (await one(database.reserved)));
});

test('general and reserved connections add up to the setting', async () => {
  await Promise.all(
    [database.queries, database.reserved, database.lists].flatMap((queries) => [one(queries), one(queries)]),
  );
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'portico'`.execute(database.queries);
  assert.equal(rows[0]?.count, 2);
});

async function timeoutOf(queries: Queries): Promise<string | undefined> {
  const { rows } = await sql<{ timeout: string }>`
    select current_setting('statement_timeout') as timeout`.execute(queries);
  return rows[0]?.timeout;
}

test('a list has its own statement timeout, and later statements on its connection do not', async () => {
  assert.equal(await timeoutOf(database.lists), '2s');
  assert.equal(await timeoutOf(database.queries), '15s');
  await assert.rejects(sql`select 1 / 0`.execute(database.lists));
  assert.equal(await timeoutOf(database.queries), '15s');
});

/** The transaction of each statement of one call: a `set` of the session would be outside. */
test('the settings of a list are local to the transaction of its statement', async () => {
  const sent: string[] = [];
  const client = {
    query: async (text: string) => {
      sent.push(text);
      return { rows: [], command: '' };
    },
    release: () => {},
  };
  const pool = { options: {}, connect: async () => client, end: async () => {} } as unknown as PostgresPool;
  const lists = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withListTimeout(pool) }) });
  await one(lists);
  await lists.transaction().execute(async (transaction) => {
    await one(transaction);
    await one(transaction);
  });
  await one(lists);
  const words = sent.map((text) => text.replace(/set local (?!statement_timeout).*?(;|$)/g, '').trim());
  const alone = ['begin; set local statement_timeout = 2000;', 'select 1', 'commit'];
  const together = ['begin', 'set local statement_timeout = 2000;', 'select 1', 'select 1', 'commit'];
  assert.deepEqual(words, [...alone, ...together, ...alone]);
  assert.doesNotMatch(sent.join(';'), /\bset (?!local )|reset/);
});

test('a failed statement reports its own error and leaves no transaction open', async () => {
  await database.lists.connection().execute(async (connection) => {
    await assert.rejects(sql`select 1 / 0`.execute(connection), { code: '22012' });
    await assert.rejects(sql`select nothing`.execute(connection), { code: '42703' });
    assert.equal(await timeoutOf(connection), '2s');
  });
  await withPoolInUse(async () => {});
  const { rows } = await sql<{ state: string }>`
    select state from pg_stat_activity where datname = current_database() and state like 'idle in%'`.execute(
    database.reserved,
  );
  assert.deepEqual(rows, []);
});

test('the same in a transaction, whether it commits or a statement of it fails', async () => {
  await database.lists.transaction().execute(async (transaction) => {
    assert.equal(await timeoutOf(transaction), '2s');
  });
  assert.equal(await timeoutOf(database.queries), '15s');
  const failing = database.lists
    .transaction()
    .execute((transaction) => sql`select 1 / 0`.execute(transaction));
  await assert.rejects(failing);
  assert.equal(await timeoutOf(database.queries), '15s');
});

test('a canceled list says how to narrow it', async () => {
  const cancel = (queries: Queries) => sql`do $$ begin raise query_canceled; end $$`.execute(queries);
  const error = await thrownBy(cancel(database.lists));
  assert.ok(error instanceof ListTimeout);
  assert.equal(failureOfDatabase(error)?.code, 'overloaded');
  assert.match(String(failureOfDatabase(error)?.message), /created_at_gte/);
  const other = failureOfDatabase(await thrownBy(cancel(database.queries)));
  assert.equal(other?.code, 'overloaded');
  assert.doesNotMatch(String(other?.message), /created_at_gte/);
});

async function failureOf(work: (other: Database) => Promise<unknown>, url = testDatabase.url) {
  const other = createDatabase({ url, connections: 1, log });
  try {
    return failureOfDatabase(await thrownBy(work(other)));
  } finally {
    await other.close();
  }
}

test('a database that is unreachable or goes away during a query is unavailable', async () => {
  const nowhere = new URL(testDatabase.url.reveal());
  nowhere.port = '1';
  const refused = await failureOf(({ queries }) => one(queries), new Secret(nowhere.href));
  assert.equal(refused?.code, 'database_unavailable');
  const terminated = await failureOf(({ queries }) =>
    sql`select pg_terminate_backend(pg_backend_pid())`.execute(queries),
  );
  assert.equal(terminated?.code, 'database_unavailable');
});

test('statement errors, and network errors of other peers, are not database failures', async () => {
  assert.equal(await failureOf(({ queries }) => sql`select 1 / 0`.execute(queries)), undefined);
  const elsewhere = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  assert.equal(failureOfDatabase(elsewhere), undefined);
});
