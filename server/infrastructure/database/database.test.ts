import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../../testing/database/database.ts';
import { Failure } from '../runtime/failure.ts';
import { createGuids } from '../runtime/guid.ts';
import { createLog } from '../runtime/log.ts';
import { createNotifications } from './connections/notifications.ts';
import { createDatabase, type Ending, type Queries, type Transaction } from './database.ts';
import { preferIndexes } from './planner.ts';

const { testDatabase, database, log } = await openTestDatabase({ connections: 3 });

const clock = createFakeClock();
const guids = createGuids({ clock, randomBytes });

async function insertOrganization(transaction: Transaction, name: string): Promise<string> {
  const guid = guids.next();
  const times = { created_at: clock.now(), updated_at: clock.now() };
  await transaction
    .insertInto('organizations')
    .values({ guid, name, live: false, features: [], ...times })
    .execute();
  return guid;
}

async function exists(name: string): Promise<boolean> {
  const query = database.queries.selectFrom('organizations').select('guid').where('name', '=', name);
  return (await query.execute()).length > 0;
}

test('the result of the work is committed and returned', async () => {
  const guid = await database.transaction((transaction) => insertOrganization(transaction, 'kept'));
  assert.match(guid, /^[0-9a-f]{32}$/);
  assert.ok(await exists('kept'));
});

test('a thrown error rolls back and is rethrown', async () => {
  const bug = new Error('a bug');
  await assert.rejects(
    database.transaction(async (transaction) => {
      await insertOrganization(transaction, 'thrown');
      throw bug;
    }),
    (error) => error === bug,
  );
  assert.ok(!(await exists('thrown')));
});

test('a returned Failure rolls back and is returned', async () => {
  const failure = new Failure('not_found', 'no such thing');
  const result = await database.transaction(async (transaction) => {
    await insertOrganization(transaction, 'failed');
    return failure;
  });
  assert.equal(result, failure);
  assert.ok(!(await exists('failed')));
});

test('failed transactions release their connections', async () => {
  for (let i = 0; i < 10; i++) {
    await database.transaction(async () => new Failure('not_found', 'x'));
    await assert.rejects(database.transaction((transaction) => sql`select 1/0`.execute(transaction)));
  }
  assert.ok(await database.transaction((transaction) => insertOrganization(transaction, 'after')));
});

test('guids are read as 32 hex characters, and counts as numbers', async () => {
  const guid = await database.transaction((transaction) => insertOrganization(transaction, 'read'));
  const { rows } = await sql<{ guid: string; count: number; at: Date }>`
    select guid, count(*) over () as count, created_at as at from organizations where guid = ${guid}`.execute(
    database.queries,
  );
  assert.deepEqual(rows, [{ guid, count: 1, at: clock.now() }]);
});

test('an idle connection that breaks is logged and replaced', async () => {
  const broke = Promise.withResolvers<string>();
  const destination = { write: (line: string) => broke.resolve(line) };
  const listening = createLog({ level: 'warn', terminal: false, destination });
  const other = createDatabase({ url: testDatabase.url, connections: 1, log: listening });
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(other.queries);
  await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.queries);
  assert.match(await broke.promise, /database connection failed/);
  await sql`select 1`.execute(other.queries);
  await other.close();
});

/** The endings that onEnd reported, and the result of the transaction. */
async function endingOf(work: (transaction: Transaction) => Promise<unknown>) {
  const endings: Ending[] = [];
  const settled = await Promise.allSettled([
    database.transaction((transaction) => {
      database.onEnd(transaction, (ending) => void endings.push(ending));
      return work(transaction);
    }),
  ]);
  return { endings, ...settled[0] };
}

test('onEnd reports a commit after it has happened', async () => {
  const reported = Promise.withResolvers<boolean>();
  const returned = await database.transaction(async (transaction) => {
    database.onEnd(transaction, () => reported.resolve(exists('announced')));
    await insertOrganization(transaction, 'announced');
    return 'what the work returns';
  });
  assert.equal(returned, 'what the work returns');
  assert.equal(await reported.promise, true);
});

test('onEnd actions run in order and once', async () => {
  const reported: string[] = [];
  await database.transaction(async (transaction) => {
    for (const name of ['first', 'second', 'third'])
      database.onEnd(transaction, (ending) => void reported.push(`${name}: ${ending}`));
    assert.deepEqual(reported, []);
  });
  assert.deepEqual(reported, ['first: committed', 'second: committed', 'third: committed']);
  await database.transaction(async () => {});
  assert.equal(reported.length, 3);
});

test('a Failure and a thrown error are reported as rolled back', async () => {
  const failed = await endingOf(async () => new Failure('not_found', 'no such thing'));
  assert.deepEqual(failed.endings, ['rolled back']);
  assert.equal(failed.status, 'fulfilled');
  const thrown = await endingOf(async () => {
    throw new Error('a bug');
  });
  assert.deepEqual(thrown.endings, ['rolled back']);
  assert.equal(thrown.status, 'rejected');
  const refused = await endingOf((transaction) => sql`select 1/0`.execute(transaction));
  assert.deepEqual(refused.endings, ['rolled back']);
});

/** Ends the connection of a transaction and waits until it is closed. */
async function breakConnection(transaction: Transaction): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
  const pid = rows[0]?.pid;
  await sql`select pg_terminate_backend(${pid}, 10000)`.execute(database.queries);
}

test('a connection lost during the commit is reported as unknown', async () => {
  const { endings, status } = await endingOf(async (transaction) => {
    await insertOrganization(transaction, 'unknown');
    await breakConnection(transaction);
  });
  assert.deepEqual(endings, ['unknown']);
  assert.equal(status, 'rejected');
});

test('a connection lost before the commit is reported as rolled back', async () => {
  const { endings, status } = await endingOf(async (transaction) => {
    await breakConnection(transaction);
    await insertOrganization(transaction, 'never');
  });
  assert.deepEqual(endings, ['rolled back']);
  assert.equal(status, 'rejected');
  assert.ok(!(await exists('never')));
});

test('work that swallows an SQL error is not reported as committed', async () => {
  const { endings, status } = await endingOf(async (transaction) => {
    await insertOrganization(transaction, 'swallowed');
    await sql`select 1/0`.execute(transaction).catch(() => {});
  });
  assert.ok(!(await exists('swallowed')));
  assert.notEqual(endings[0], 'committed');
  assert.equal(status, 'rejected');
});

const insertTwice = (guid: string) => sql`
  /* pipelined */
  insert into organizations (guid, name, live, features, created_at, updated_at)
  select guid, 'twice', false, '{}', now(), now() from (values (${guid}::uuid), (${guid}::uuid)) as n(guid)`;

test('an error of a pipelined statement is reported by the next statement that waits', async () => {
  const endings: Ending[] = [];
  const result = database.transaction(async (transaction) => {
    database.onEnd(transaction, (ending) => endings.push(ending));
    await insertTwice(guids.next()).execute(transaction);
    await insertOrganization(transaction, 'after an error');
  });
  await assert.rejects(result, { code: '23505' });
  assert.deepEqual(endings, ['rolled back']);
});

test('a commit after the error of a pipelined statement fails', async () => {
  const endings: Ending[] = [];
  await assert.rejects(
    database.transaction(async (transaction) => {
      database.onEnd(transaction, (ending) => endings.push(ending));
      await insertTwice(guids.next()).execute(transaction);
    }),
    { code: '23505' },
  );
  assert.deepEqual(endings, ['rolled back']);
  assert.ok(!(await exists('twice')));
  await database.transaction((transaction) => insertOrganization(transaction, 'on the same connection'));
  assert.ok(await exists('on the same connection'));
});

test('a serialization failure is reported as rolled back, also by the commit', async () => {
  const endings: Ending[] = [];
  const result = database.transaction(async (transaction) => {
    database.onEnd(transaction, (ending) => endings.push(ending));
    await sql`/* pipelined */ select require_unchanged(false)`.execute(transaction);
  });
  await assert.rejects(result, { code: '40001' });
  assert.deepEqual(endings, ['rolled back']);
});

test('no statement of a transaction runs after its rollback', async () => {
  let statements: Promise<unknown>[] = [];
  const result = database.transaction(async (transaction) => {
    statements = [
      sql`select 1 / 0`.execute(transaction),
      insertOrganization(transaction, 'before the rollback'),
      insertOrganization(transaction, 'after the rollback'),
    ];
    await Promise.all(statements);
  });
  await assert.rejects(result, { code: '22012' });
  await Promise.allSettled(statements);
  assert.ok(!(await exists('before the rollback')));
  assert.ok(!(await exists('after the rollback')));
});

test('every connection of the pools and of the listener has TCP keep-alive', async (t) => {
  const connect = t.mock.method(Socket.prototype, 'connect');
  const setKeepAlive = t.mock.method(Socket.prototype, 'setKeepAlive');
  const fresh = createDatabase({ url: testDatabase.url, connections: 4, reserved: 2, log });
  const notifications = createNotifications({ url: testDatabase.url, queries: fresh.queries, log });
  await sql`select 1`.execute(fresh.queries);
  await sql`select 1`.execute(fresh.reserved);
  await fresh.maintain((queries) => sql`select 1`.execute(queries));
  await notifications.listen('keep_alive', () => {});
  await notifications.close();
  await fresh.close();
  assert.equal(connect.mock.callCount(), 4);
  assert.deepEqual(
    setKeepAlive.mock.calls.map(({ arguments: options }) => options),
    Array.from({ length: 4 }, () => [true, 10_000]),
  );
});

test('the planner settings of a transaction apply to its next statement and end with it', async () => {
  const seqscan = (queries: Queries) =>
    sql<{ enable_seqscan: string }>`show enable_seqscan`
      .execute(queries)
      .then(({ rows }) => rows[0]?.enable_seqscan);
  const inside = await database.transaction(async (transaction) => {
    await preferIndexes(transaction);
    return seqscan(transaction);
  });
  assert.deepEqual([inside, await seqscan(database.queries)], ['off', 'on']);
});
