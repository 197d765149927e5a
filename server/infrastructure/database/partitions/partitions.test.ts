import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createTestDatabase, migrateTo } from '../../../../testing/database.ts';
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import { createGuids } from '../../runtime/guid.ts';
import { createLog } from '../../runtime/log.ts';
import { createDatabase, type Database, type Queries } from '../database.ts';
import { migrate } from '../migrate.ts';
import { createPartitions, weeksAround } from './partitions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
const TABLES = ['events', 'deliveries', 'delivery_attempts', 'delivery_counters', 'event_counters'];
/**
 * A Sunday; its week begins on the 9th. In the past, because the database drops only partitions that are old by its own
 * clock.
 */
const START = new Date('2020-11-15T12:00:00.000Z');

/** A database and one process on it; `another` opens a second process. */
async function open({ migrated = true, now = START, retentionDays = 30 } = {}) {
  const testDatabase = await createTestDatabase({ migrated });
  const opened: Database[] = [];
  const clock = createFakeClock(now);
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    terminal: false,
    destination: { write: (line) => void lines.push(line) },
  });
  after(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await testDatabase.drop();
  });
  function another() {
    const database = createDatabase({ url: testDatabase.url, connections: 3, log });
    opened.push(database);
    return {
      database,
      partitions: createPartitions({ database, clock, log, retentionDays, auditRetentionDays: 400 }),
    };
  }
  /** Log entries since the last call. */
  const logged = () => lines.splice(0).map((line) => JSON.parse(line) as { msg: string; partition?: string });
  const owner = createDatabase({ url: testDatabase.ownerUrl, connections: 2, log });
  opened.push(owner);
  const first = another();
  if (migrated) await first.partitions.prepare();
  lines.length = 0;
  return { ...first, another, owner, clock, log, logged };
}

type Range = { table: string; name: string; bounds: string };

async function readRanges(queries: Queries): Promise<Range[]> {
  const { rows } = await sql<Range>`
    select inhparent::regclass::text as table, relname as name, pg_get_expr(relpartbound, oid) as bounds
    from pg_inherits join pg_class on oid = inhrelid
    where inhparent::regclass::text = any(${TABLES}) order by 1, 2`.execute(queries);
  return rows;
}

const namesOf = async (queries: Queries) => (await readRanges(queries)).map(({ name }) => name);

async function tableExists(queries: Queries, name: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${name}) is not null as found`.execute(
    queries,
  );
  return rows[0]?.found === true;
}

const guidAt = (moment: Date) => createGuids({ clock: { now: () => moment }, randomBytes }).next();
const later = (moment: Date, ms: number) => new Date(moment.getTime() + ms);

async function insertEvent(queries: Queries, moment: Date): Promise<string> {
  const guid = guidAt(moment);
  await queries
    .insertInto('events')
    .values({
      guid,
      organization_guid: guid,
      bank_guid: null,
      event_type: 'bank.created',
      object_guid: guid,
      environment: 'sandbox',
      created_at: moment,
    })
    .execute();
  return guid;
}

/** A row of each history table at this time. */
async function insertHistory(queries: Queries, moment: Date): Promise<void> {
  const guid = await insertEvent(queries, moment);
  await sql`insert into deliveries
    (guid, organization_guid, environment, subscription_guid, event_guid, event_type, object_guid, attempt_count,
     created_at, updated_at)
    values (${guid}, ${guid}, 'sandbox', ${guid}, ${guid}, 'bank.created', ${guid}, 0, ${moment}, ${moment})`.execute(
    queries,
  );
  await sql`insert into delivery_attempts (delivery_guid, number, attempted_at, duration_ms, outcome)
    values (${guid}, 1, ${moment}, 1, 'timeout')`.execute(queries);
  await sql`insert into delivery_counters (subscription_guid, minute, completed, failed_attempts, response_times)
    values (${guid}, ${moment}, 0, 1, '{}')`.execute(queries);
  await sql`insert into event_counters (organization_guid, environment, minute, events)
    values (${guid}, 'sandbox', ${moment}, 1)`.execute(queries);
}

async function eventGuids(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('events').select('guid').orderBy('guid').execute();
  return rows.map(({ guid }) => guid);
}

/** Runs `work` while another transaction holds the locks of `take`. */
async function whileHeld<T>(
  database: Database,
  take: (queries: Queries) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  return database.transaction(async (queries) => {
    await take(queries);
    return work();
  });
}

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
      const weeks = weeksAround(now);
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

test('at any time, everything from 8 days before to 2 weeks ahead can be inserted', async () => {
  const { database, partitions, clock } = await open();
  const moments = [
    '2026-11-15T23:59:59.999Z',
    '2026-11-16T00:00:00.000Z',
    '2026-12-28T00:00:00.000Z',
    '2027-01-03T23:59:59.999Z',
    '2028-02-29T12:00:00.000Z',
    '2030-12-31T23:59:59.999Z',
  ];
  for (const moment of moments) {
    clock.set(new Date(moment));
    await partitions.prepare();
    for (const days of [-8, -7, -1, 0, 1, 6, 7, 13, 14])
      await insertHistory(database.queries, later(clock.now(), days * DAY_MS));
    const weeks = weeksAround(clock.now());
    for (const { from, to } of weeks)
      for (const edge of [from, later(to, -1)]) await insertHistory(database.queries, edge);
  }
});

test('the test template has the weeks of the fake clock, by name and by bound', async () => {
  const { database } = await open({ now: createFakeClock().now() });
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
    ...{ retentionDays: 30, auditRetentionDays: 400 },
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
  const made = logged().map(({ partition }) => partition);
  const ofAudit = weeksAround(clock.now(), 4).length;
  assert.equal(made.length, TABLES.length * weeksAround(clock.now()).length + ofAudit);
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

/** A database of version 0008 with events, then migrated. */
async function openUpgraded(eventsAt: readonly Date[]) {
  const opened = await open({ migrated: false });
  const { database } = opened;
  await database.maintain((queries) => migrateTo(queries, '0008_customers'));
  const guids: string[] = [];
  for (const moment of eventsAt) guids.push(await insertEvent(database.queries, moment));
  await migrate(database);
  return { ...opened, guids };
}

test('events from before the partitions stay readable, and new ones go to their week', async () => {
  const { database, partitions, guids, clock } = await openUpgraded([
    later(START, -300 * DAY_MS),
    later(START, -WEEK_MS),
    later(START, -DAY_MS),
  ]);
  await partitions.prepare();
  await partitions.prepare();
  const names = await namesOf(database.queries);
  assert.deepEqual(
    names.filter((name) => name.startsWith('events')),
    ['events_2020_11_16', 'events_2020_11_23', 'events_before'],
    'covered weeks are not created again',
  );
  const expected = [...guids];
  for (const days of [-7, 0, 13])
    expected.push(await insertEvent(database.queries, later(clock.now(), days * DAY_MS)));
  assert.deepEqual(await eventGuids(database.queries), expected.sort());
});

test('events from before the partitions are dropped when the last of them is old', async () => {
  const { database, partitions, clock } = await openUpgraded([later(START, -300 * DAY_MS), START]);
  const endOfWeek = new Date('2020-11-16T00:00:00.000Z');
  clock.set(later(endOfWeek, 30 * DAY_MS - 1));
  await partitions.prepare();
  assert.deepEqual(await partitions.dropOld(), []);
  clock.advance(1);
  assert.ok((await partitions.dropOld()).includes('events_before'));
  assert.deepEqual(await eventGuids(database.queries), []);
  await insertEvent(database.queries, clock.now());
});

test('without earlier events, their partition is removed', async () => {
  const { database, partitions } = await openUpgraded([]);
  await partitions.prepare();
  assert.ok(!(await tableExists(database.queries, 'events_before')));
  await insertHistory(database.queries, START);
});

test('partitions within the retention are kept, and older ones are dropped and logged', async () => {
  const { database, partitions, clock, logged } = await open({ retentionDays: 30 });
  await insertHistory(database.queries, START);
  const lastOfWeek = new Date('2020-11-15T23:59:59.999Z');
  for (let day = 0; day < 80; day++) {
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
    dropped.length >= TABLES.length * 7 &&
      dropped.some(({ partition }) => partition === 'deliveries_2020_11_09'),
  );
  await insertHistory(database.queries, clock.now());
});

function isKept(name: string, keptFrom: Date): boolean {
  const monday = new Date(name.slice(-10).replaceAll('_', '-'));
  return monday.getTime() + WEEK_MS > keptFrom.getTime();
}

const isDropWarning = ({ msg }: { msg: string }) => /could not drop a partition/.test(msg);

/** Writes and reads with a short lock timeout until the other work is done. */
async function writeUntil(other: Promise<unknown>, database: Database, moment: Date): Promise<void> {
  let done = false;
  const ending = other.finally(() => {
    done = true;
  });
  while (!done) {
    await database.transaction(async (transaction) => {
      await sql`set local lock_timeout = '200ms'`.execute(transaction);
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

test('two concurrent nodes drop each partition once', async () => {
  const { another, clock, logged } = await open();
  clock.advance(8 * WEEK_MS);
  const dropped = await Promise.all(Array.from({ length: 4 }, () => another().partitions.dropOld()));
  assert.equal(dropped.flat().length, TABLES.length * weeksAround(START).length);
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

test('a partition that an earlier version detached is dropped by the migration', async () => {
  const { database } = await open({ migrated: false });
  await database.maintain((queries) => migrateTo(queries, '0016_consignments'));
  await sql`create table events_2020_01_06 (like events);
    create table events_2020_01_13 (like events);
    comment on table events_2020_01_06 is 'A partition whose time is over: to be dropped.'`.execute(
    database.queries,
  );
  await migrate(database);
  assert.ok(!(await tableExists(database.queries, 'events_2020_01_06')));
  assert.ok(await tableExists(database.queries, 'events_2020_01_13'));
});
