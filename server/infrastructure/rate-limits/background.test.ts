import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../../testing/database/database.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { createRateLimits, type RateLimits } from './service.ts';

const { database, log } = await openTestDatabase({ connections: 3 });

const clock = createFakeClock(new Date('2026-11-15T12:00:00.000Z'));
const WIDE = { name: 'wide', limit: 3_000, windowMs: 60_000 };
const node = () => createRateLimits({ queries: database.queries, clock, timers: clock, log });

async function counted(key: string): Promise<number[]> {
  const { rows } = await sql<{ used: number }>`
    select used from rate_limits where key = ${`wide:${key}`} order by window_started_at`.execute(
    database.queries,
  );
  return rows.map(({ used }) => used);
}

async function passed(limits: RateLimits, uses: number, key: string): Promise<number> {
  let count = 0;
  for (let use = 0; use < uses; use++) if ((await limits.use(WIDE, key)) === undefined) count += 1;
  return count;
}

test('uses far from the limit are written in batches', async () => {
  const limits = node();
  assert.equal(await passed(limits, 500, 'far'), 500);
  await limits.flush();
  assert.deepEqual(await counted('far'), [500]);
});

test('exactly as many uses as the limit pass, although the first were counted in the background', async () => {
  assert.equal(await passed(node(), 3_500, 'exact'), 3_000);
});

test('counts of another node are known before the last thousand uses', async () => {
  const [here, there] = [node(), node()];
  assert.equal(await passed(here, 1_500, 'shared'), 1_500);
  await here.flush();
  assert.equal(await passed(there, 2_000, 'shared'), 1_500);
});

test('the first tenth of a limit may be written in batches, and the rest counts it', async () => {
  const limit = { ...WIDE, limit: 100, startsInBackground: true };
  const [here, there] = [node(), node()];
  const use = async (limits: RateLimits, uses: number) => {
    let count = 0;
    for (let nth = 0; nth < uses; nth += 1) if (!(await limits.use(limit, 'tenth'))) count += 1;
    return count;
  };
  const waits = () => here.count(limit, 'tenth') instanceof Promise;
  assert.equal(await use(here, 1), 1);
  assert.deepEqual(Array.from({ length: 10 }, waits), [...Array.from({ length: 9 }, () => false), true]);
  assert.equal((await use(there, 60)) + (await use(here, 60)), 89);
});

test('without that, every use below a limit of a thousand waits', async () => {
  const limit = { ...WIDE, limit: 100 };
  const limits = node();
  await limits.use(limit, 'narrow');
  assert.ok(limits.count(limit, 'narrow') instanceof Promise);
});

test('the first use of a node counts those of all nodes', async () => {
  const limit = { ...WIDE, limit: 100, startsInBackground: true };
  const [here, there] = [node(), node()];
  for (let use = 0; use < 100; use += 1) assert.equal(await here.use(limit, 'full'), undefined);
  assert.ok(await there.use(limit, 'full'));
});

test('uses of a key within five seconds are one write', async () => {
  const limits = node();
  await passed(limits, 3, 'rare');
  clock.advance(4_999);
  await passed(limits, 4, 'rare');
  assert.deepEqual(await counted('rare'), [1]);
  clock.advance(1);
  await until(async () => (await counted('rare'))[0] === 7, 'the count is written');
});

test('a key that is used often is written at once', async () => {
  const limits = node();
  await passed(limits, 51, 'often');
  clock.advance(10);
  await until(async () => (await counted('often'))[0] === 51, 'the count is written');
});

test('buffered uses of one window do not count in the next', async () => {
  const started = clock.now();
  let now = started;
  const limits = createRateLimits({
    queries: database.queries,
    clock: { now: () => now },
    timers: clock,
    log,
  });
  await passed(limits, 10, 'turn');
  now = new Date(started.getTime() + 60_000);
  for (let use = 0; use < 2; use += 1) await limits.use(WIDE, 'turn');
  clock.advance(10);
  await until(async () => (await counted('turn'))[0] === 10, 'the old window is written');
  assert.equal(limits.count(WIDE, 'turn'), undefined, 'the new window does not wait');
  await passed(limits, 5, 'turn');
  await limits.flush();
  assert.deepEqual(await counted('turn'), [10, 8]);
});

test('uses that could not be written are written later', async () => {
  let isAway = false;
  const queries = database.queries.withPlugin({
    transformQuery({ node }) {
      if (isAway) throw new Error('no connection');
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const limits = createRateLimits({ queries, clock, timers: clock, log });
  await limits.use(WIDE, 'away');
  await limits.use(WIDE, 'away');
  isAway = true;
  await limits.flush();
  isAway = false;
  await limits.flush();
  assert.deepEqual(await counted('away'), [2]);
});
