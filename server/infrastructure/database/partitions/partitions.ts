import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { firstGuidAt } from '../../runtime/guid.ts';
import type { Log } from '../../runtime/log.ts';
import { tryRunUnderLock } from '../advisory-lock.ts';
import type { Database, Queries, Transaction } from '../database.ts';
import {
  type Bounds,
  DAY_MS,
  gapsIn,
  type Margins,
  marginsOf,
  periodMs,
  periodStart,
  periodsAround,
  type Range,
} from './periods.ts';

/**
 * History tables have a partition per day, week or several weeks, depending on their retention. Partitions are created
 * in advance and dropped as a whole after the retention. Attaching blocks no insert or select; detaching takes a short
 * lock and gives up when it is not granted at once. Both are functions of the database (migrations 0029 and 0077), because the
 * service role does not own the tables.
 */
export type Partitions = {
  /** Creates the missing partitions for every guid that can be inserted from now on. */
  prepare(): Promise<void>;
  /** Creates the missing partitions for imported rows from `from` to `to`. */
  cover(table: string, from: Date, to: Date): Promise<void>;
  /** Drops partitions older than the retention by the clocks of node and database, and returns their names. */
  dropOld(): Promise<string[]>;
};

type HistoryTable = {
  name: string;
  key: 'guid' | 'moment';
  storage?: readonly string[];
  /** Has the retention of audit records. */
  isAudit?: true;
  /** A retention that is not configurable. */
  daysKept?: number;
  margins?: Margins;
};
/** From the catalogue. */
type Partition = Bounds & { table: string; name: string; detaching: boolean };

const REQUEST_LOG_DAYS = 7;
/** Rows are written seconds after their request began, and the log may lose some. */
const REQUEST_LOG_MARGINS: Margins = { behindMs: DAY_MS, aheadMs: 2 * DAY_MS };

/**
 * For attaching, which blocks no other statement. Longer than `deadlock_timeout` (1 s), after which autovacuum gives
 * way.
 */
const LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';

const MAKING = 'portico make partitions';
const DROPPING = 'drop partitions';

/**
 * Each row is updated once, soon after its insert. The free space in its page allows a heap-only update; vacuum runs
 * after 5 % of the rows instead of 20 %, while their pages are still in memory. Partitions do not inherit these
 * settings.
 */
const CHANGED_ONCE = [
  'fillfactor=50',
  'autovacuum_vacuum_scale_factor=0.05',
  'autovacuum_vacuum_insert_scale_factor=0.05',
];

/** In the order of dropping: a delivery never outlives the partition of its attempts. */
export const HISTORY_TABLES: readonly HistoryTable[] = [
  { name: 'events', key: 'guid' },
  { name: 'event_resends', key: 'guid' },
  { name: 'deliveries', key: 'guid', storage: CHANGED_ONCE },
  { name: 'delivery_attempts', key: 'guid' },
  { name: 'delivery_counters', key: 'moment' },
  { name: 'event_counters', key: 'moment' },
  { name: 'audit_records', key: 'guid', isAudit: true },
];
export const REQUEST_LOG_TABLE: HistoryTable = {
  name: 'request_log',
  key: 'guid',
  daysKept: REQUEST_LOG_DAYS,
  margins: REQUEST_LOG_MARGINS,
};
const TABLES: readonly HistoryTable[] = [...HISTORY_TABLES, REQUEST_LOG_TABLE];

export function createPartitions({
  database,
  clock,
  log,
  retentionDays,
  auditRetentionDays,
  tables = TABLES,
}: {
  database: Database;
  clock: Clock;
  log: Log;
  retentionDays: number;
  auditRetentionDays: number;
  tables?: readonly HistoryTable[];
}): Partitions {
  /** Creates partitions for the parts of the range that have none. */
  async function make(
    table: HistoryTable,
    range: Range,
    level: 'debug' | 'info',
    since?: number,
  ): Promise<void> {
    try {
      const made = await database.transaction((transaction) => fillGaps(transaction, table, range, since));
      for (const { from, to } of made)
        log[level]({ partition: partitionName(table.name, from), from, to }, 'created a partition');
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const partition = partitionName(table.name, range.from);
      log.warn({ partition, ...range }, 'could not create a partition: lock timeout');
    }
  }

  /** True unless the partition is locked; the next run continues from there. */
  async function attempt(partition: string, drop: () => Promise<void>): Promise<boolean> {
    try {
      await drop();
      log.info({ partition }, 'dropped a partition');
      return true;
    } catch (error) {
      const reason = isLockTimeout(error) ? 'a reader holds a lock' : String(error);
      log.warn({ partition, reason }, 'could not drop a partition');
      return false;
    }
  }

  function daysKept(table: string): number {
    const known = tables.find(({ name }) => name === table);
    return known?.daysKept ?? (known?.isAudit ? auditRetentionDays : retentionDays);
  }

  const periodOf = ({ name }: HistoryTable) => periodMs(daysKept(name));

  return {
    async prepare() {
      const existing = await readPartitions(database.queries, tables);
      for (const table of tables) {
        const ms = periodOf(table);
        const margins = table.margins ?? marginsOf(ms);
        const ranges = periodsAround(clock.now(), ms, margins);
        const since = clock.now().getTime() - margins.behindMs;
        // The partitions of a new database are logged at debug level only.
        const level = existing.some((partition) => partition.table === table.name) ? 'info' : 'debug';
        for (const range of ranges)
          if (gapsIn(partitionsOf(table, existing), range, since).length > 0)
            await make(table, range, level, since);
      }
    },

    async cover(name, from, to) {
      const table = tables.find((each) => each.name === name);
      if (!table) throw new Error(`${name} has no partitions`);
      const ms = periodOf(table);
      const existing = await readPartitions(database.queries, [table]);
      let start = periodStart(from.getTime(), ms);
      // What is older than the retention is dropped together.
      const oldest = periodStart(clock.now().getTime() - daysKept(name) * DAY_MS, ms);
      for (let end: number; start <= to.getTime(); start = end) {
        end = start < oldest ? oldest : start + ms;
        const range = { from: new Date(start), to: new Date(end) };
        if (gapsIn(partitionsOf(table, existing), range).length > 0) await make(table, range, 'info');
      }
    },

    async dropOld() {
      const now = clock.now().getTime();
      const isOver = ({ table, to }: Partition) => to !== null && to <= now - daysKept(table) * DAY_MS;
      const { queries } = database;
      if (!(await readPartitions(queries, tables)).some(isOver)) return [];

      const dropped: string[] = [];
      await tryRunUnderLock(database, DROPPING, async (connection) => {
        const over = (await readPartitions(connection, tables)).filter(isOver);
        for (const { name: table } of tables)
          for (const partition of over.filter((each) => each.table === table)) {
            // The same reader would block the next one too.
            const drop = () => dropPartition(connection, partition, daysKept(table));
            if (!(await attempt(partition.name, drop))) break;
            dropped.push(partition.name);
          }
      });
      return dropped;
    },
  };
}

function partitionName(table: string, from: Date): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

/** One that is being detached takes no more rows. */
function partitionsOf(table: HistoryTable, partitions: readonly Partition[]): Partition[] {
  return partitions.filter((each) => each.table === table.name && !each.detaching);
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
}

/** Takes no lock: a bound has no columns, so `pg_get_expr` need not open the partition (its 0). */
async function readPartitions(queries: Queries, tables: readonly HistoryTable[]): Promise<Partition[]> {
  const names = tables.map(({ name }) => name);
  const byMoment = tables.filter(({ key }) => key === 'moment').map(({ name }) => name);
  // A bound is a quoted value, MINVALUE or MAXVALUE. The session that wrote a timestamp parses it, because its format
  // depends on the session.
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

/** One transaction, so that nothing partial remains; returns nothing when another process was faster. */
async function fillGaps(
  transaction: Transaction,
  table: HistoryTable,
  range: Range,
  since?: number,
): Promise<Range[]> {
  await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(transaction);
  await sql`select pg_advisory_xact_lock(hashtextextended(${MAKING}, 0))`.execute(transaction);
  const gaps = gapsIn(partitionsOf(table, await readPartitions(transaction, [table])), range, since);
  const bound = (moment: Date) => (table.key === 'guid' ? firstGuidAt(moment) : moment.toISOString());
  for (const { from, to } of gaps)
    await sql`select create_partition(${table.name}, ${partitionName(table.name, from)}, ${bound(from)},
      ${bound(to)}, ${table.storage ?? []}::text[])`.execute(transaction);
  return gaps;
}

/** One transaction: the partition is attached or dropped. */
async function dropPartition(
  connection: Queries,
  { table, name }: Partition,
  daysKept: number,
): Promise<void> {
  await sql`select drop_partition(${table}, ${name}, ${daysKept}::integer)`.execute(connection);
}
