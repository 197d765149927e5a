import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../../testing/app/fake-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../testing/database/database.ts';
import { createGuids } from '../../../runtime/guid.ts';
import { createLog } from '../../../runtime/log.ts';
import { createDatabase, type Database, type Queries } from '../../database.ts';
import { createPartitions, HISTORY_TABLES } from '../partitions.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const WEEK_MS = 7 * DAY_MS;
export const TABLES = [
  'events',
  'event_resends',
  'deliveries',
  'delivery_attempts',
  'delivery_counters',
  'event_counters',
];
/**
 * A Sunday; its week begins on the 9th. In the past, because the database drops only partitions that are old by its own
 * clock.
 */
export const START = new Date('2020-11-15T12:00:00.000Z');

/** Opens databases that are prepared for the start, as copies of one. */
export async function createPartitionedDatabases() {
  const log = createLog({ level: 'silent', terminal: false });
  const prepared = await createTestDatabase();
  const database = createDatabase({ url: prepared.url, connections: 1, log });
  const clock = createFakeClock(START);
  await createPartitions({
    database,
    clock,
    log,
    retentionDays: 30,
    auditRetentionDays: 400,
    tables: HISTORY_TABLES,
  }).prepare();
  await database.close();
  after(prepared.drop);
  return () => openPartitioned({ copyOf: prepared });
}

type Options = { copyOf?: TestDatabase; migrated?: boolean; now?: Date };

/** A database and one process on it; `another` opens a second process. */
export async function openPartitioned({ migrated = true, now = START, ...options }: Options) {
  const testDatabase = await createTestDatabase({ migrated, ...options });
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
      partitions: createPartitions({
        database,
        clock,
        log,
        retentionDays: 30,
        auditRetentionDays: 400,
        tables: HISTORY_TABLES,
      }),
    };
  }
  /** Log entries since the last call. */
  const logged = () =>
    lines.splice(0).map((line) => JSON.parse(line) as { msg: string; partition?: string; reason?: string });
  const owner = createDatabase({ url: testDatabase.ownerUrl, connections: 2, log });
  opened.push(owner);
  const first = another();
  if (migrated) await first.partitions.prepare();
  lines.length = 0;
  return { ...first, another, owner, clock, log, logged };
}

type Range = { table: string; name: string; bounds: string };

export async function readRanges(queries: Queries): Promise<Range[]> {
  const { rows } = await sql<Range>`
    select inhparent::regclass::text as table, relname as name, pg_get_expr(relpartbound, oid) as bounds
    from pg_inherits join pg_class on oid = inhrelid
    where inhparent::regclass::text = any(${TABLES}) order by 1, 2`.execute(queries);
  return rows;
}

export const namesOf = async (queries: Queries) => (await readRanges(queries)).map(({ name }) => name);

export async function tableExists(queries: Queries, name: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${name}) is not null as found`.execute(
    queries,
  );
  return rows[0]?.found === true;
}

export const guidAt = (moment: Date) => createGuids({ clock: { now: () => moment }, randomBytes }).next();
export const later = (moment: Date, ms: number) => new Date(moment.getTime() + ms);

export async function insertEvent(queries: Queries, moment: Date): Promise<string> {
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
export async function insertHistory(queries: Queries, moment: Date): Promise<void> {
  const guid = await insertEvent(queries, moment);
  await sql`insert into deliveries
    (guid, organization_guid, environment, subscription_guid, event_guid, event_type, object_guid, attempt_count,
     created_at, updated_at)
    values (${guid}, ${guid}, 'sandbox', ${guid}, ${guid}, 'bank.created', ${guid}, 0, ${moment}, ${moment})`.execute(
    queries,
  );
  await sql`insert into event_resends
    (guid, organization_guid, environment, event_guid, subscription_guid, created_at)
    values (${guid}, ${guid}, 'sandbox', ${guid}, ${guid}, ${moment})`.execute(queries);
  await sql`insert into delivery_attempts (delivery_guid, number, attempted_at, duration_ms, outcome)
    values (${guid}, 1, ${moment}, 1, 'timeout')`.execute(queries);
  await sql`insert into delivery_counters (subscription_guid, minute, completed, failed_attempts, response_times)
    values (${guid}, ${moment}, 0, 1, '{}')`.execute(queries);
  await sql`insert into event_counters (organization_guid, environment, minute, events)
    values (${guid}, 'sandbox', ${moment}, 1)`.execute(queries);
}

export async function eventGuids(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('events').select('guid').orderBy('guid').execute();
  return rows.map(({ guid }) => guid);
}
