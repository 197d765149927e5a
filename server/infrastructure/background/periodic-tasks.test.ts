import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { createDatabase } from '../database/database.ts';
import { createLog } from '../runtime/log.ts';
import { Secret } from '../runtime/secret.ts';
import { createClusterTasks, type PeriodicTask } from './periodic-tasks.ts';

const INTERVAL_MS = 30_000;

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

const logged = () => lines.splice(0).map((line) => JSON.parse(line) as { msg: string; task?: string });
const node = (...tasks: PeriodicTask[]) => createClusterTasks({ database, log, tasks });

/** A task that runs until it is released. */
function heldTask() {
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const run = async () => {
    runs += 1;
    started.resolve();
    await released.promise;
  };
  return {
    task: { name: 'held', run },
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

test('tasks run in order, and a failed task does not stop the others', async () => {
  const done: string[] = [];
  const task = (name: string, error?: Error): PeriodicTask => ({
    name,
    async run() {
      done.push(name);
      if (error) throw error;
    },
  });
  assert.equal(await node(task('a'), task('b', new Error('broken')), task('c')).runOnce(), true);
  assert.deepEqual(done, ['a', 'b', 'c']);
  assert.deepEqual(
    logged().map((line) => [line.msg, line.task]),
    [['periodic task failed', 'b']],
  );
});

test('a second node skips its run while the first node runs the tasks', async () => {
  const [first, second] = [heldTask(), heldTask()];
  second.release();
  const [here, there] = [node(first.task), node(second.task)];
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

test('one of several concurrent nodes runs the tasks', async () => {
  const held = heldTask();
  const running = Array.from({ length: 5 }, () => node(held.task).runOnce());
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

test('the lock holder keeps no transaction open, which would hold back vacuum', async () => {
  const held = heldTask();
  const running = node(held.task).runOnce();
  await held.started;
  assert.deepEqual(
    (await holders()).map(({ state }) => state),
    ['idle'],
  );
  held.release();
  await running;
});

test('a lost connection releases the lock', async () => {
  const [lost, other] = [heldTask(), heldTask()];
  other.release();
  const running = node(lost.task).runOnce();
  await lost.started;
  for (const { pid } of await holders())
    await sql`select pg_terminate_backend(${pid})`.execute(database.queries);
  await until(async () => (await holders()).length === 0, 'the end of the connection');
  assert.equal(await node(other.task).runOnce(), true);
  lost.release();
  await assert.rejects(running);
  assert.equal(await node(other.task).runOnce(), true);
  logged();
});

test('tasks run every 30 seconds, and a long run is not followed by a backlog of runs', async () => {
  const timers = createFakeClock();
  const held = heldTask();
  const clusterTasks = createClusterTasks({ database, log, timers, tasks: [held.task] });
  clusterTasks.start();
  timers.advance(INTERVAL_MS - 1);
  assert.deepEqual([held.runs(), timers.waiting()], [0, 1]);
  timers.advance(1);
  await held.started;
  timers.advance(3 * INTERVAL_MS);
  const stopped = clusterTasks.stop();
  assert.equal((await holders()).length, 1, 'stop waits for the run');
  held.release();
  await stopped;
  assert.deepEqual(await holders(), []);
  assert.deepEqual([held.runs(), timers.waiting()], [1, 0]);
});

test('an unreachable database is logged, and the next run retries', async () => {
  const url = new URL(testDatabase.url.reveal());
  url.pathname = '/there_is_no_such_database';
  const unreachable = createDatabase({ url: new Secret(url.href), connections: 1, log });
  const timers = createFakeClock();
  const clusterTasks = createClusterTasks({ database: unreachable, log, timers, tasks: [] });
  clusterTasks.start();
  timers.advance(INTERVAL_MS);
  await clusterTasks.stop();
  await unreachable.close();
  assert.deepEqual(
    logged().map(({ msg }) => msg),
    ['periodic tasks failed'],
  );
});
