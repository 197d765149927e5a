import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../../testing/database.ts';
import { createFakeClock } from '../../../testing/fake-clock.ts';
import { createDatabase } from '../database/database.ts';
import { createLog } from '../runtime/log.ts';
import { Secret } from '../runtime/secret.ts';
import type { Chore } from './chores.ts';
import { createSweeper } from './sweeper.ts';

const ROUND_MS = 30_000;

const testDatabase = await createTestDatabase();
const lines: string[] = [];
const log = createLog({
  level: 'warn',
  terminal: false,
  destination: { write: (line) => void lines.push(line) },
});
const database = createDatabase({ url: testDatabase.url, connections: 2, log });
after(async () => {
  await database.close();
  await testDatabase.drop();
});

const logged = () => lines.splice(0).map((line) => JSON.parse(line) as { msg: string; chore?: string });
const node = (...chores: Chore[]) => createSweeper({ database, log, chores });

/** A chore that runs until it is released. */
function heldChore() {
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const run = async () => {
    runs += 1;
    started.resolve();
    await released.promise;
  };
  return {
    chore: { name: 'held', run },
    started: started.promise,
    release: released.resolve,
    runs: () => runs,
  };
}

/** The sessions that hold an advisory lock in this database. */
async function holders(): Promise<{ pid: number; state: string }[]> {
  const { rows } = await sql<{ pid: number; state: string }>`
    select pid, state from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and datname = current_database()`.execute(database.queries);
  return rows;
}

test('chores are done in order, and one that fails does not keep the others from being done', async () => {
  const done: string[] = [];
  const chore = (name: string, error?: Error): Chore => ({
    name,
    async run() {
      done.push(name);
      if (error) throw error;
    },
  });
  assert.equal(await node(chore('a'), chore('b', new Error('broken')), chore('c')).runOnce(), true);
  assert.deepEqual(done, ['a', 'b', 'c']);
  assert.deepEqual(
    logged().map((line) => [line.msg, line.chore]),
    [['a chore failed; the next round tries again', 'b']],
  );
});

test('a second node does nothing while the first is at it, and its work afterwards', async () => {
  const [first, second] = [heldChore(), heldChore()];
  second.release();
  const [here, there] = [node(first.chore), node(second.chore)];
  const running = here.runOnce();
  await first.started;
  assert.equal(await there.runOnce(), false);
  assert.equal(second.runs(), 0);
  first.release();
  assert.equal(await running, true);
  for (let round = 1; round <= 5; round++) {
    assert.equal(await there.runOnce(), true);
    assert.equal(second.runs(), round);
  }
  assert.deepEqual(await holders(), []);
});

test('of many nodes at once one does the work', async () => {
  const held = heldChore();
  const running = Array.from({ length: 5 }, () => node(held.chore).runOnce());
  let refused = 0;
  const counted = running.map((round) =>
    round.then((did) => {
      if (!did && ++refused === 4) held.release();
      return did;
    }),
  );
  assert.equal((await Promise.all(counted)).filter(Boolean).length, 1);
  assert.equal(held.runs(), 1);
});

test('the holder keeps no transaction open, which would hold back vacuum', async () => {
  const held = heldChore();
  const running = node(held.chore).runOnce();
  await held.started;
  assert.deepEqual(
    (await holders()).map(({ state }) => state),
    ['idle'],
  );
  held.release();
  await running;
});

test('a holder whose connection is gone makes room for another', async () => {
  const [lost, other] = [heldChore(), heldChore()];
  other.release();
  const running = node(lost.chore).runOnce();
  await lost.started;
  for (const { pid } of await holders())
    await sql`select pg_terminate_backend(${pid}, 5000)`.execute(database.queries);
  assert.equal(await node(other.chore).runOnce(), true);
  lost.release();
  await assert.rejects(running);
  assert.equal(await node(other.chore).runOnce(), true);
  logged();
});

test('a round every half minute; one that takes longer is not followed by those that it held up', async () => {
  const timers = createFakeClock();
  const held = heldChore();
  const sweeper = createSweeper({ database, log, timers, chores: [held.chore] });
  sweeper.start();
  timers.advance(ROUND_MS - 1);
  assert.deepEqual([held.runs(), timers.waiting()], [0, 1]);
  timers.advance(1);
  await held.started;
  timers.advance(3 * ROUND_MS);
  const stopped = sweeper.stop();
  assert.equal((await holders()).length, 1, 'to stop is to wait for the round');
  held.release();
  await stopped;
  assert.deepEqual(await holders(), []);
  assert.deepEqual([held.runs(), timers.waiting()], [1, 0]);
});

test('a database that cannot be reached is told, and the next round tries again', async () => {
  const url = new URL(testDatabase.url.reveal());
  url.pathname = '/there_is_no_such_database';
  const unreachable = createDatabase({ url: new Secret(url.href), connections: 1, log });
  const timers = createFakeClock();
  const sweeper = createSweeper({ database: unreachable, log, timers, chores: [] });
  sweeper.start();
  timers.advance(ROUND_MS);
  await sweeper.stop();
  await unreachable.close();
  assert.deepEqual(
    logged().map(({ msg }) => msg),
    ['a round of chores failed; the next tries again'],
  );
});
