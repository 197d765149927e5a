import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { whileHeld } from '../../../../testing/database/locks.ts';
import type { Database, Queries } from '../database.ts';
import { periodsAround } from './periods.ts';
import {
  createPartitionedDatabases,
  DAY_MS,
  eventGuids,
  insertEvent,
  insertHistory,
  later,
  namesOf,
  openPartitioned,
  START,
  TABLES,
  tableExists,
  WEEK_MS,
} from './testing/history.ts';

const open = await createPartitionedDatabases();

test('partitions within the retention are kept, and older ones are dropped and logged', async () => {
  const { database, partitions, clock, logged } = await open();
  await insertHistory(database.queries, START);
  const lastOfWeek = new Date('2020-11-15T23:59:59.999Z');
  // Past the drops of three weeks.
  for (let day = 0; day < 40; day++) {
    clock.advance(DAY_MS);
    await partitions.prepare();
    const before = await namesOf(database.queries);
    const dropped = await partitions.dropOld();
    assert.deepEqual(
      dropped.toSorted(),
      before.filter((name) => !isKept(name, later(clock.now(), -30 * DAY_MS))),
      clock.now().toISOString(),
    );
    const expected = later(clock.now(), -30 * DAY_MS) <= lastOfWeek ? 1 : 0;
    assert.equal((await eventGuids(database.queries)).length, expected);
    for (const name of dropped) assert.ok(!(await tableExists(database.queries, name)), name);
  }
  const dropped = logged().filter(({ msg }) => msg === 'dropped a partition');
  assert.ok(
    dropped.length >= TABLES.length * 3 &&
      dropped.some(({ partition }) => partition === 'deliveries_2020_11_09'),
  );
  await insertHistory(database.queries, clock.now());
});

function isKept(name: string, keptFrom: Date): boolean {
  const monday = new Date(name.slice(-10).replaceAll('_', '-'));
  return monday.getTime() + WEEK_MS > keptFrom.getTime();
}

const isDropWarning = ({ msg }: { msg: string }) => /could not drop a partition/.test(msg);

/** Writes and reads until the other work is done. A writer that waited for the reader would time out. */
async function writeUntil(other: Promise<unknown>, database: Database, moment: Date): Promise<void> {
  let done = false;
  const ending = other.finally(() => {
    done = true;
  });
  while (!done) {
    await database.transaction(async (transaction) => {
      await sql`set local lock_timeout = '10s'`.execute(transaction);
      await insertEvent(transaction, moment);
      await transaction.selectFrom('events').select('guid').limit(1).execute();
    });
    await setTimeout(20);
  }
  await ending;
}

const OLD_EVENTS = ['events_2020_11_02', 'events_2020_11_09'];

for (const [what, table] of [
  ['history', 'events'],
  ['the old partition itself', 'events_2020_11_02'],
] as const)
  test(`a reader of ${what} delays the drop to the next run and blocks no writer`, async () => {
    const { database, owner, partitions, another, clock, logged } = await open();
    await insertEvent(database.queries, later(START, -WEEK_MS));
    clock.set(new Date('2020-12-16T00:00:00.000Z'));
    await partitions.prepare();
    logged();
    const read = (reader: Queries) => sql`select from ${sql.table(table)}`.execute(reader);
    await whileHeld(owner, read, async () => {
      const dropping = partitions.dropOld();
      await writeUntil(dropping, another().database, clock.now());
      const dropped = await dropping;
      assert.ok(
        !dropped.some((name) => name.startsWith('events')),
        'the other partitions of the table wait too',
      );
      assert.equal(dropped.length, (TABLES.length - 1) * OLD_EVENTS.length);
      assert.equal(logged().filter(isDropWarning).length, 1);
      assert.ok(await tableExists(database.queries, 'events_2020_11_02'));

      // Partitions are created while an old one is being dropped.
      clock.advance(WEEK_MS);
      await partitions.prepare();
    });
    const newlyOver = TABLES.map((each) => `${each}_2020_11_16`);
    assert.deepEqual(await partitions.dropOld(), [...OLD_EVENTS, ...newlyOver]);
    assert.deepEqual(logged().filter(isDropWarning), []);
    assert.deepEqual(await partitions.dropOld(), []);
  });

test('a drop waits 100 ms for its locks', async () => {
  const { database } = await open();
  const { rows } = await sql<{ proconfig: string[] }>`
    select proconfig from pg_proc where proname = 'drop_partition' and pronargs = 3`.execute(
    database.queries,
  );
  assert.deepEqual(
    rows.map(({ proconfig }) => proconfig.includes('lock_timeout=100ms')),
    [true],
  );
});

for (const [table, daysAgo, daysAhead] of [
  ['events', 25, 30],
  ['audit_records', 100, 400],
] as const)
  test(`a node whose clock is ahead drops no ${table} within the retention of the database's clock`, async () => {
    const now = new Date();
    const { database, partitions, clock, logged } = await openPartitioned({ now });
    const moment = later(now, -daysAgo * DAY_MS);
    await partitions.cover(table, moment, moment);
    const [made = ''] = logged().map(({ partition }) => partition);
    assert.ok(made.startsWith(table));
    assert.deepEqual(await partitions.dropOld(), []);
    assert.deepEqual(logged(), []);

    clock.advance(daysAhead * DAY_MS);
    assert.deepEqual(await partitions.dropOld(), []);
    const refused = logged().find(({ partition }) => partition === made);
    assert.match(
      String(refused?.reason),
      /did not end more than (30|400) days ago by the clock of the database/,
    );
    assert.ok(await tableExists(database.queries, made));
  });

test('two concurrent nodes drop each partition once', async () => {
  const { another, clock, logged } = await open();
  clock.advance(8 * WEEK_MS);
  const dropped = await Promise.all(Array.from({ length: 4 }, () => another().partitions.dropOld()));
  assert.equal(dropped.flat().length, TABLES.length * periodsAround(START, WEEK_MS).length);
  assert.deepEqual(logged().filter(isDropWarning), []);
});

test('a partition that an earlier version was detaching is dropped', async () => {
  const { database, owner, partitions, clock } = await open();
  await sql`create table events_2020_01_06 (like events)`.execute(owner.queries);
  clock.set(new Date('2020-12-09T00:00:00.000Z'));
  const read = (reader: Queries) => sql`select from events`.execute(reader);
  const detach = () =>
    owner.queries.connection().execute(async (connection) => {
      await sql`set lock_timeout = '10ms'`.execute(connection);
      await assert.rejects(
        sql`alter table events detach partition events_2020_11_02 concurrently`.execute(connection),
        { code: '55P03' },
      );
    });
  await whileHeld(database, read, detach);
  assert.deepEqual((await partitions.dropOld()).slice(0, 1), ['events_2020_11_02']);
  assert.ok(await tableExists(owner.queries, 'events_2020_01_06'));
});
