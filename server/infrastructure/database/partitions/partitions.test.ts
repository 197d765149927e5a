import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { whileHeld } from '../../../../testing/database/locks.ts';
import type { Queries } from '../database.ts';
import { createPartitions, HISTORY_TABLES } from './partitions.ts';
import { periodMs, periodsAround } from './periods.ts';
import {
  createPartitionedDatabases,
  DAY_MS,
  eventGuids,
  guidAt,
  insertHistory,
  later,
  namesOf,
  openPartitioned,
  readRanges,
  START,
  TABLES,
  tableExists,
  WEEK_MS,
} from './testing/history.ts';

const open = await createPartitionedDatabases();

test('the weeks around any time begin on Mondays and have neither gaps nor overlaps', () => {
  const moments = fc.date({
    min: new Date('1990-01-01'),
    max: new Date('2100-01-01'),
    noInvalidDate: true,
  });
  const yearEnds = fc
    .tuple(fc.integer({ min: 1990, max: 2100 }), fc.integer({ min: -8 * DAY_MS, max: 8 * DAY_MS }))
    .map(([year, offset]) => new Date(Date.UTC(year, 0, 1) + offset));
  fc.assert(
    fc.property(fc.oneof(moments, yearEnds), (now) => {
      const weeks = periodsAround(now, WEEK_MS);
      weeks.forEach(({ from, to }, index) => {
        assert.match(from.toUTCString(), /^Mon, .* 00:00:00 GMT$/);
        assert.equal(to.getTime() - from.getTime(), WEEK_MS);
        if (index > 0) assert.deepEqual(weeks[index - 1]?.to, from);
      });
      const [first, last] = [weeks[0], weeks.at(-1)];
      assert.ok(first && first.from <= later(now, -8 * DAY_MS) && first.to > later(now, -8 * DAY_MS));
      assert.ok(last && last.from <= later(now, 2 * WEEK_MS) && last.to > later(now, 2 * WEEK_MS));
    }),
    {
      numRuns: 2_000,
      examples: [
        [new Date('2026-11-16T00:00:00.000Z')],
        [new Date('2026-11-15T23:59:59.999Z')],
        [new Date('2024-02-29T12:00:00.000Z')],
      ],
    },
  );
});

test('a retention of any length has few partitions: days, weeks or four weeks and more', () => {
  const lengths = [8, 16, 17, 30, 112, 113, 400, 448, 449, 3_650, 36_500].map(
    (days) => `${days}: ${periodMs(days) / DAY_MS}`,
  );
  assert.deepEqual(lengths, [
    ...['8: 1', '16: 1', '17: 7', '30: 7', '112: 7'],
    ...['113: 28', '400: 28', '448: 28', '449: 56', '3650: 252', '36500: 2296'],
  ]);
  for (let days = 7; days <= 36_500; days += 1) assert.ok((days * DAY_MS) / periodMs(days) <= 16, `${days}`);
});

for (const [retentionDays, daysAhead] of [
  [8, 4],
  [1_000, 56],
] as const)
  test(`with a new retention of ${retentionDays} days, partitions continue where the weeks end`, async () => {
    const { database, partitions, clock, log, logged } = await open();
    const changed = createPartitions({
      ...{ database, clock, log, tables: HISTORY_TABLES },
      ...{ retentionDays, auditRetentionDays: retentionDays },
    });
    for (const day of [0, 10, 20, 21]) {
      clock.set(later(START, day * DAY_MS));
      await changed.prepare();
      // A process with the setting of before.
      await partitions.prepare();
      for (const days of [-8, -1, 0, 1, daysAhead])
        await insertHistory(database.queries, later(clock.now(), days * DAY_MS));
    }
    await assertNoGap(database.queries);

    clock.advance(30 * DAY_MS);
    for (const { prepare, dropOld } of [changed, partitions]) {
      await prepare();
      await dropOld();
    }
    logged();
    await changed.prepare();
    await partitions.prepare();
    assert.deepEqual(logged(), [], 'what one process drops the other does not create');
  });

/** Of deliveries; without the partitions of the template, which are years later. */
async function assertNoGap(queries: Queries): Promise<void> {
  const ranges = (await readRanges(queries)).filter(
    ({ table, name }) => table === 'deliveries' && name < 'deliveries_2025',
  );
  const bounds = ranges.map(({ bounds: text }) => text.match(/'[^']+'/g) ?? []);
  for (const [index, [from]] of bounds.entries())
    if (index > 0) assert.equal(from, bounds[index - 1]?.[1], 'no gap and no overlap');
}

test('imported rows from before the retention have one partition', async () => {
  const { database, clock, log } = await open();
  const retention = { retentionDays: 8, auditRetentionDays: 400 };
  const partitions = createPartitions({ database, clock, log, ...retention, tables: HISTORY_TABLES });
  const before = new Set(await namesOf(database.queries));
  await partitions.cover('deliveries', later(START, -70 * DAY_MS), START);
  const added = (await namesOf(database.queries)).filter((name) => !before.has(name));
  assert.deepEqual(added, ['deliveries_2020_09_06']);
  await assertNoGap(database.queries);
});

test('with a retention of 8 days, a day is dropped 8 days after its end', async () => {
  const { database, clock, log } = await open();
  const partitions = createPartitions({
    ...{ database, clock, log, tables: HISTORY_TABLES },
    ...{ retentionDays: 8, auditRetentionDays: 400 },
  });
  clock.advance(30 * DAY_MS);
  await partitions.prepare();
  const names = await namesOf(database.queries);
  assert.ok(names.includes('events_2020_12_15') && names.includes('events_2020_12_19'), String(names));
  await partitions.dropOld();
  clock.set(new Date('2020-12-23T23:59:59.999Z'));
  assert.deepEqual(
    (await partitions.dropOld()).filter((name) => name.startsWith('events_')),
    Array.from({ length: 8 }, (_, n) => `events_2020_12_${String(n + 7).padStart(2, '0')}`),
  );
  clock.advance(1);
  assert.deepEqual(
    await partitions.dropOld(),
    TABLES.map((table) => `${table}_2020_12_15`),
  );
});

test('at any time, everything from 8 days before to 2 weeks ahead can be inserted', async () => {
  const { database, partitions, clock } = await open();
  const moments = [
    '2026-11-15T23:59:59.999Z',
    '2026-11-16T00:00:00.000Z',
    '2026-12-28T00:00:00.000Z',
    '2027-01-03T23:59:59.999Z',
    '2028-02-29T12:00:00.000Z',
  ];
  for (const moment of moments) {
    clock.set(new Date(moment));
    await partitions.prepare();
    for (const days of [-8, -7, -1, 0, 1, 6, 7, 13, 14])
      await insertHistory(database.queries, later(clock.now(), days * DAY_MS));
    const weeks = periodsAround(clock.now(), WEEK_MS);
    for (const { from, to } of weeks)
      for (const edge of [from, later(to, -1)]) await insertHistory(database.queries, edge);
  }
});

test('the test template has the weeks of the fake clock, by name and by bound', async () => {
  const { database } = await openPartitioned({ now: createFakeClock().now() });
  const ranges = await readRanges(database.queries);
  const weeks = ['2026_11_02', '2026_11_09', '2026_11_16', '2026_11_23'];
  assert.deepEqual(
    ranges.map(({ name }) => name),
    [...TABLES].sort().flatMap((table) => weeks.map((week) => `${table}_${week}`)),
  );
  const bounds = ranges.find(({ name }) => name === 'deliveries_2026_11_09')?.bounds;
  assert.match(bounds ?? '', /FROM \('[0-9a-f]{8}-[0-9a-f]{4}-0000-0000-000000000000'\) TO/);
});

test('a second run changes nothing, costs one query, waits for no lock and logs nothing', async () => {
  const { database, owner, clock, log, logged } = await open();
  const before = await readRanges(database.queries);
  let asked = 0;
  const queries = database.queries.withPlugin({
    transformQuery({ node }) {
      asked += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const partitions = createPartitions({
    ...{ database: { ...database, queries }, clock, log },
    ...{ retentionDays: 30, auditRetentionDays: 400, tables: HISTORY_TABLES },
  });
  const tables = before.flatMap(({ table, name }) => [sql.table(table), sql.table(name)]);
  const lockAll = (holder: Queries) => sql`lock table ${sql.join(tables)}`.execute(holder);
  await whileHeld(owner, lockAll, partitions.prepare);
  assert.equal(asked, 1);
  assert.deepEqual(await readRanges(database.queries), before);
  assert.deepEqual(logged(), []);
});

test('each created partition is logged once', async () => {
  const { partitions, clock, logged } = await open();
  clock.advance(WEEK_MS);
  await partitions.prepare();
  assert.deepEqual(
    logged().map(({ msg, partition }) => [msg, partition]),
    TABLES.map((table) => ['created a partition', `${table}_2020_11_30`]),
  );
});

test('concurrent processes all succeed, and each partition is created once', async () => {
  const { database, another, clock, logged } = await open();
  clock.advance(20 * WEEK_MS);
  await Promise.all(Array.from({ length: 6 }, () => another().partitions.prepare()));
  // A process that waits longer than two seconds for the others leaves the partition to them.
  const made = logged()
    .filter(({ msg }) => msg === 'created a partition')
    .map(({ partition }) => partition);
  const ofAudit = periodsAround(clock.now(), 4 * WEEK_MS).length;
  assert.equal(made.length, TABLES.length * periodsAround(clock.now(), WEEK_MS).length + ofAudit);
  assert.equal(new Set(made).size, made.length);
  await insertHistory(database.queries, clock.now());
});

test('partitions are created during writes and reads', async () => {
  const { database, partitions, clock } = await open();
  const write = async (queries: Queries) => {
    await insertHistory(queries, clock.now());
    await eventGuids(queries);
    clock.advance(WEEK_MS);
  };
  await whileHeld(database, write, partitions.prepare);
  assert.ok((await namesOf(database.queries)).includes('deliveries_2020_11_30'));
});

test('a locked table is left for the next run, and the others get their partitions', async () => {
  const { database, partitions, clock, logged } = await open();
  const lock = (queries: Queries) =>
    sql`lock table deliveries in share update exclusive mode`.execute(queries);
  clock.advance(WEEK_MS);
  await whileHeld(database, lock, partitions.prepare);
  const names = await namesOf(database.queries);
  assert.ok(names.includes('events_2020_11_30') && names.includes('delivery_counters_2020_11_30'));
  assert.ok(!(await tableExists(database.queries, 'deliveries_2020_11_30')), 'nothing partial is left');
  assert.ok(
    logged().some(
      ({ msg, partition }) =>
        /could not create a partition/.test(msg) && partition === 'deliveries_2020_11_30',
    ),
  );
  await partitions.prepare();
  assert.ok((await namesOf(database.queries)).includes('deliveries_2020_11_30'));
});

test('a partition has the indexes and checks of its parent, and deliveries a fillfactor', async () => {
  const { database, owner } = await open();
  const { rows } = await sql<{ name: string; loose: number; options: string[] | null }>`
    select child.relname as name, child.reloptions as options,
      (select count(*) from pg_index parent_index where parent_index.indrelid = inhparent and not exists
        (select from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
         where i.inhparent = parent_index.indexrelid and x.indrelid = child.oid and x.indisvalid)) as loose
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent::regclass::text = any(${TABLES})`.execute(database.queries);
  assert.ok(rows.length > 0);
  for (const { name, loose, options } of rows) {
    assert.equal(loose, 0, name);
    assert.equal(
      options?.some((option) => option.startsWith('fillfactor=')) ?? false,
      name.startsWith('deliveries_'),
      name,
    );
  }
  await assert.rejects(
    sql`update deliveries_2020_11_09 set environment = 'x' where false;
        insert into events_2020_11_09 values (${sql.lit(guidAt(START))}, ${sql.lit(guidAt(START))}, null, 'x',
          ${sql.lit(guidAt(START))}, 'elsewhere', '2020-11-15')`.execute(owner.queries),
    /events_environment_check/,
  );
});

test('the bounds are read correctly with every date style of the session', async () => {
  const { database, owner, clock, another, logged } = await open();
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.queries);
  const altered = sql.id(rows[0]?.name ?? '');
  await sql`alter database ${altered} set timezone = 'Asia/Kathmandu'`.execute(owner.queries);
  await sql`alter database ${altered} set datestyle = 'German, DMY'`.execute(owner.queries);
  const { partitions } = another();
  await partitions.prepare();
  assert.deepEqual(logged(), []);
  clock.set(new Date('2020-12-08T23:59:59.999Z'));
  await partitions.prepare();
  await insertHistory(database.queries, later(clock.now(), 2 * WEEK_MS));
  assert.deepEqual(await partitions.dropOld(), []);
  clock.advance(1);
  assert.deepEqual(
    await partitions.dropOld(),
    TABLES.map((table) => `${table}_2020_11_02`),
  );
});
