import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { firstGuidAt } from '../../runtime/guid.ts';
import type { Log } from '../../runtime/log.ts';
import { tryRunUnderLock } from '../advisory-lock.ts';
import type { Database, Queries, Transaction } from '../database.ts';

/**
 * History lies in a partition for each week, the audit record in one for each four weeks. They are made ahead, so that
 * no insert is without one, and dropped as a whole when their time is over. Attaching takes no lock on the parent that
 * an insert or a select would wait for; detaching takes one for a moment, and gives up when it is not granted at once.
 * Both are done by functions of the database (migration 0029), because the service role does not own the tables.
 */
export type Partitions = {
  /** Makes what is missing for everything that can be inserted from now on. */
  prepare(): Promise<void>;
  /** Drops what is older than the retention, and returns the names. */
  dropOld(): Promise<string[]>;
};

type Week = { from: Date; to: Date };
type HistoryTable = {
  name: string;
  key: 'guid' | 'moment';
  storage?: readonly string[];
  /** The length of a partition; one, unless it is said. */
  weeks?: number;
  /** Kept as long as audit records are. */
  isAudit?: true;
};
/** As the catalogue tells it, from and to in milliseconds; null is without bound. */
type Partition = { table: string; name: string; from: number | null; to: number | null; detaching: boolean };

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** Weeks begin on Monday, 00:00 UTC; the epoch was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** An event may come with a guid that is seven days old; a day more for clocks that disagree. */
const BEHIND_MS = 8 * DAY_MS;
/** As long may every round fail before an insert does; for longer partitions as many of them. */
const AHEAD_PERIODS = 2;
/** Few partitions, although it is kept for long: a list reads the index of each. */
const AUDIT_WEEKS = 4;

/** For attaching, which others do not wait behind. Longer than `deadlock_timeout` (1 s), when autovacuum gives way. */
const LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';

const MAKING = 'portico make partitions';
const DROPPING = 'drop partitions';

/**
 * Each row changes once, soon after it came, and then rests. The room in its page keeps the change off the indexes;
 * vacuum comes after every twentieth of the week instead of every fifth, while those pages are still in memory.
 * A partition inherits none of this from its parent.
 */
const CHANGED_ONCE = [
  'fillfactor=50',
  'autovacuum_vacuum_scale_factor=0.05',
  'autovacuum_vacuum_insert_scale_factor=0.05',
];

/** In the order in which a week is dropped: no delivery is left without the partition that its attempts go to. */
const TABLES: readonly HistoryTable[] = [
  { name: 'events', key: 'guid' },
  { name: 'deliveries', key: 'guid', storage: CHANGED_ONCE },
  { name: 'delivery_attempts', key: 'guid' },
  { name: 'delivery_counters', key: 'moment' },
  { name: 'event_counters', key: 'moment' },
  { name: 'audit_records', key: 'guid', weeks: AUDIT_WEEKS, isAudit: true },
];

export function createPartitions({
  database,
  clock,
  log,
  retentionDays,
  auditRetentionDays,
}: {
  database: Database;
  clock: Clock;
  log: Log;
  retentionDays: number;
  auditRetentionDays: number;
}): Partitions {
  async function make(table: HistoryTable, week: Week, level: 'debug' | 'info'): Promise<void> {
    const name = partitionName(table.name, week);
    try {
      const made = await database.transaction((transaction) => makePartition(transaction, table, week));
      if (made) log[level]({ partition: name, from: week.from, to: week.to }, 'a partition was made');
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      log.warn({ partition: name }, 'a partition could not be made for a lock; the next round tries again');
    }
  }

  /** True unless something is in the way; then the next round goes on where this one stopped. */
  async function attempt(partition: string, drop: () => Promise<void>): Promise<boolean> {
    try {
      await drop();
      log.info({ partition }, 'a partition was dropped');
      return true;
    } catch (error) {
      const reason = isLockTimeout(error) ? 'it is being read' : String(error);
      log.warn({ partition, reason }, 'a partition could not be dropped; the next round tries again');
      return false;
    }
  }

  function daysKept(table: string): number {
    const isAudit = TABLES.some(({ name, isAudit: is }) => is && name === table);
    return isAudit ? auditRetentionDays : retentionDays;
  }

  return {
    async prepare() {
      const existing = await readPartitions(database.queries);
      for (const table of TABLES) {
        const weeks = weeksAround(clock.now(), table.weeks);
        // The first ones belong to the making of the database, which is no news to whoever starts it.
        const level = existing.some((partition) => partition.table === table.name) ? 'info' : 'debug';
        for (const week of weeks) if (!isCovered(existing, table, week)) await make(table, week, level);
      }
    },

    async dropOld() {
      const now = clock.now().getTime();
      const isOver = ({ table, to }: Partition) => to !== null && to <= now - daysKept(table) * DAY_MS;
      const { queries } = database;
      if (!(await readPartitions(queries)).some(isOver)) return [];

      const dropped: string[] = [];
      await tryRunUnderLock(database, DROPPING, async (connection) => {
        const over = (await readPartitions(connection)).filter(isOver);
        for (const { name: table } of TABLES)
          for (const partition of over.filter((each) => each.table === table)) {
            // The next one would meet the same reader.
            if (!(await attempt(partition.name, () => dropPartition(connection, partition)))) break;
            dropped.push(partition.name);
          }
      });
      return dropped;
    },
  };
}

/** The periods of so many weeks into which something can be inserted between now and two from now, without a gap. */
export function weeksAround(now: Date, weeks = 1): Week[] {
  const periods: Week[] = [];
  const periodMs = weeks * WEEK_MS;
  const until = now.getTime() + AHEAD_PERIODS * periodMs;
  for (let from = periodStart(now.getTime() - BEHIND_MS, periodMs); from <= until; from += periodMs)
    periods.push({ from: new Date(from), to: new Date(from + periodMs) });
  return periods;
}

function periodStart(moment: number, periodMs: number): number {
  return FIRST_MONDAY_MS + Math.floor((moment - FIRST_MONDAY_MS) / periodMs) * periodMs;
}

function partitionName(table: string, { from }: Week): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

function isCovered(partitions: readonly Partition[], table: HistoryTable, week: Week): boolean {
  return partitions.some(
    ({ table: name, from, to, detaching }) =>
      name === table.name &&
      !detaching &&
      (from === null || from <= week.from.getTime()) &&
      (to === null || to >= week.to.getTime()),
  );
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
}

/** Takes no lock: a bound has no columns, so `pg_get_expr` need not open the partition (its 0). */
async function readPartitions(queries: Queries): Promise<Partition[]> {
  const names = TABLES.map(({ name }) => name);
  const byMoment = TABLES.filter(({ key }) => key === 'moment').map(({ name }) => name);
  // A bound is a quoted value, or MINVALUE or MAXVALUE. How a moment is written depends on the session, so it reads it.
  const millisecondsOf = (bound: RawBuilder<unknown>) => sql`
    case when ${bound} not like '''%' then null
         when parent.relname = any(${byMoment})
           then extract(epoch from trim(both '''' from ${bound})::timestamptz)::bigint * 1000
         else ('x' || left(translate(${bound}, '''-', ''), 12))::bit(48)::bigint end`;
  const { rows } = await sql<Partition>`
    select parent.relname as table, child.relname as name, inhdetachpending as detaching,
      ${millisecondsOf(sql`bounds[1]`)} as from, ${millisecondsOf(sql`bounds[2]`)} as to
    from pg_inherits
    join pg_class parent on parent.oid = inhparent
    join pg_class child on child.oid = inhrelid
    cross join regexp_match(pg_get_expr(child.relpartbound, 0), '^FOR VALUES FROM \\((.+)\\) TO \\((.+)\\)$') bounds
    where parent.relname = any(${names}) and pg_table_is_visible(parent.oid)
    order by child.relname`.execute(queries);
  return rows;
}

/** In one transaction, so that nothing half made is ever left; false when another process was faster. */
async function makePartition(transaction: Transaction, table: HistoryTable, week: Week): Promise<boolean> {
  await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(transaction);
  await sql`select pg_advisory_xact_lock(hashtextextended(${MAKING}, 0))`.execute(transaction);
  if (isCovered(await readPartitions(transaction), table, week)) return false;

  const bound = (moment: Date) => (table.key === 'guid' ? firstGuidAt(moment) : moment.toISOString());
  await sql`select create_partition(${table.name}, ${partitionName(table.name, week)}, ${bound(week.from)},
    ${bound(week.to)}, ${table.storage ?? []}::text[])`.execute(transaction);
  return true;
}

/** In one transaction: either it is a partition or it is gone. */
async function dropPartition(connection: Queries, { table, name }: Partition): Promise<void> {
  await sql`select drop_partition(${table}, ${name})`.execute(connection);
}
