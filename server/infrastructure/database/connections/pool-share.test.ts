import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { createLog } from '../../runtime/log.ts';
import { createDatabase, type Ending, MAX_WAIT_FOR_SHARE_MS } from '../database.ts';
import { PoolFull } from '../failures.ts';
import { connectionsOfOne, MIN_CONNECTIONS, reservedConnections } from './connection-counts.ts';
import { MAX_WAITING_FOR_SHARE } from './pool-share.ts';

const testDatabase = await createTestDatabase();
const clock = createFakeClock();
const log = createLog({ level: 'silent', terminal: false });
const { url } = testDatabase;
const database = createDatabase({ url, connections: 3, reserved: 2, log, timers: clock });
const { authentication, reserved } = database;
after(async () => {
  await database.close();
  await testDatabase.drop();
});

const select = () => sql`select 1`.execute(authentication.queries);

async function withShareInUse(work: () => Promise<void>): Promise<void> {
  await authentication.transaction(async (transaction) => {
    await sql`select 1`.execute(transaction);
    await work();
  });
}

test('authentication leaves a reserved connection to others, and its further queries wait', async () => {
  const order: string[] = [];
  let waiting: Promise<unknown>[] = [];
  await withShareInUse(async () => {
    waiting = ['first', 'second'].map((name) => select().then(() => order.push(name)));
    await sql`select 1`.execute(reserved);
    assert.deepEqual(order, []);
  });
  await Promise.all(waiting);
  assert.deepEqual(order, ['first', 'second']);
});

test('a query that waits too long or behind too many fails without losing a part of the share', async () => {
  let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await withShareInUse(async () => {
    waiting = Promise.allSettled(Array.from({ length: MAX_WAITING_FOR_SHARE }, select));
    await new Promise(setImmediate);
    await assert.rejects(select(), PoolFull);
    clock.advance(MAX_WAIT_FOR_SHARE_MS);
    for (const { status } of await waiting) assert.equal(status, 'rejected');
  });
  await select();
});

test('a failed statement releases its part of the share', async () => {
  await assert.rejects(sql`select 1 / 0`.execute(authentication.queries));
  await assert.rejects(authentication.transaction((transaction) => sql`select 1 / 0`.execute(transaction)));
  await select();
});

test('onEnd reports how a transaction of authentication ended', async () => {
  const endings: Ending[] = [];
  await authentication.transaction(async (transaction) => {
    database.onEnd(transaction, (ending) => endings.push(ending));
    await sql`select 1`.execute(transaction);
  });
  assert.deepEqual(endings, ['committed']);
});

test('one Organization never has all connections that are not reserved', () => {
  for (let connections = MIN_CONNECTIONS; connections <= 100; connections++)
    for (const most of Object.values(connectionsOfOne(connections)))
      assert.ok(most < connections - reservedConnections(connections));
});
