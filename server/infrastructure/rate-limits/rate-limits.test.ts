import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { type KyselyPlugin, sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createDatabase, type Queries } from '../database/database.ts';
import type { Failure } from '../runtime/failure.ts';
import { createLog } from '../runtime/log.ts';
import { createRateLimits, type RateLimit, type RateLimits } from './service.ts';

const testDatabase = await createTestDatabase();
const log = createLog({ level: 'silent', terminal: false });
const databases = [1, 2].map(() => createDatabase({ url: testDatabase.url, connections: 3, log }));
after(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await testDatabase.drop();
});

const clock = createFakeClock();
const LIMIT: RateLimit = { name: 'test', limit: 10, windowMs: 60_000 };
let queries: Queries;
let queryCount = 0;
let here: RateLimits;
let there: RateLimits;

beforeEach(async () => {
  const [first, second] = databases.map((database) => database.queries) as [Queries, Queries];
  await sql`delete from rate_limits`.execute(first);
  clock.set(new Date('2026-11-15T12:00:00.000Z'));
  queries = first.withPlugin(counting);
  here = createRateLimits({ queries, clock, timers: clock, log });
  there = createRateLimits({ queries: second, clock, timers: clock, log });
  queryCount = 0;
});

const counting: KyselyPlugin = {
  transformQuery({ node }) {
    queryCount += 1;
    return node;
  },
  transformResult: async ({ result }) => result,
};

/** How many of these concurrent uses pass. */
async function passed(limits: RateLimits, uses: number, key = 'key', limit = LIMIT): Promise<number> {
  const outcomes = await Promise.all(Array.from({ length: uses }, () => limits.use(limit, key)));
  return outcomes.filter((outcome) => outcome === undefined).length;
}

test('exactly as many uses as the limit pass, concurrently or in sequence', async () => {
  assert.equal(await passed(here, 25), 10);
  let runQueued = 0;
  for (let i = 0; i < 15; i++) runQueued += await passed(here, 1, 'another key');
  assert.equal(runQueued, 10);
});

test('the limit is shared by every node on the database', async () => {
  assert.equal(await passed(here, 6), 6);
  assert.equal(await passed(there, 6), 4);
  assert.equal(await passed(here, 1), 0);
  assert.equal(
    (await Promise.all([passed(here, 50, 'b'), passed(there, 50, 'b')])).reduce((a, b) => a + b),
    10,
  );
});

test('other keys and limits are counted separately', async () => {
  assert.equal(await passed(here, 11, 'a'), 10);
  assert.equal(await passed(here, 1, 'b'), 1);
  assert.equal(await passed(here, 1, 'a', { ...LIMIT, name: 'other' }), 1);
});

test('a rejection says how long to wait, rounded up to whole seconds', async () => {
  await passed(here, 10);
  const wait = async () => ((await here.use(LIMIT, 'key')) as Failure).retryAfterSeconds;
  assert.equal(await wait(), 60);
  clock.advance(1);
  assert.equal(await wait(), 60);
  clock.advance(58_999);
  assert.equal(await wait(), 1);
  clock.advance(999);
  assert.equal(await wait(), 1);
});

test('the end of the window resets the key on every node', async () => {
  await passed(here, 11);
  await passed(there, 1);
  clock.advance(59_999);
  assert.deepEqual([await passed(here, 1), await passed(there, 1)], [0, 0]);
  clock.advance(1);
  assert.deepEqual([await passed(here, 5), await passed(there, 6)], [5, 5]);
});

test('a clock that is set back does not prolong a rejection', async () => {
  assert.equal(await passed(here, 11), 10);
  clock.set(new Date('2026-11-14T12:00:00.000Z'));
  assert.equal(here.blocked(LIMIT, 'key'), undefined);
  assert.equal(await passed(here, 11), 10);
});

test('concurrent uses cost one query, and a key over its limit none', async () => {
  await passed(here, 10);
  assert.equal(queryCount, 1);
  await passed(here, 1);
  assert.equal(queryCount, 2);
  await passed(here, 1_000);
  assert.ok(here.blocked(LIMIT, 'key'));
  assert.equal(queryCount, 2);
  clock.advance(60_000);
  assert.equal(here.blocked(LIMIT, 'key'), undefined);
});

test('checking whether a key is blocked does not count as a use', async () => {
  for (let i = 0; i < 50; i++) assert.equal(here.blocked(LIMIT, 'key'), undefined);
  assert.equal(await passed(here, 11), 10);
});

test('nodes that count many keys in different orders do not deadlock', async () => {
  const keys = Array.from({ length: 300 }, (_, i) => `key ${i}`);
  const countAll = (limits: RateLimits, order: string[]) =>
    Promise.all(order.map((key) => limits.use(LIMIT, key)));
  await Promise.all([0, 1, 2, 3].flatMap(() => [countAll(here, keys), countAll(there, keys.toReversed())]));
  const { rows } = await sql<{ used: number }>`select distinct used from rate_limits`.execute(queries);
  assert.deepEqual(rows, [{ used: 8 }]);
});

test('the cache of blocked keys is bounded, and evicted keys are still rejected', async () => {
  const none = { ...LIMIT, limit: 0 };
  await Promise.all(Array.from({ length: 10_001 }, (_, i) => here.use(none, `key ${i}`)));
  assert.equal(here.blocked(none, 'key 0'), undefined);
  assert.ok(here.blocked(none, 'key 10000'));
  assert.ok(await here.use(none, 'key 0'));
});

test('old windows are deleted, and no others', async () => {
  await here.use(LIMIT, 'old');
  clock.advance(3_600_000);
  await here.use(LIMIT, 'new');
  assert.equal(await here.sweep(), 0);
  clock.advance(1);
  assert.equal(await here.sweep(), 1);
  assert.equal(await passed(here, 10, 'new'), 9);
});
