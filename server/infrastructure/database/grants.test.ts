import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { createTestDatabase, queriesOfOwner } from '../../../testing/database/database.ts';
import { lockWaits } from '../../../testing/database/locks.ts';
import { firstGuidAt } from '../runtime/guid.ts';
import { createLog } from '../runtime/log.ts';
import { createDatabase } from './database.ts';
import { SERVICE } from './embedded/cluster/roles.ts';
import { grantToService, readRole } from './grants.ts';

const log = createLog({ level: 'silent', terminal: false });
const testDatabase = await createTestDatabase();
const service = createDatabase({ url: testDatabase.url, connections: 1, log });
const owner = queriesOfOwner(testDatabase);
after(async () => {
  await service.close();
  await testDatabase.drop();
});

const DENIED = '42501';
const run = (statement: string) => sql.raw(statement).execute(service.queries);

const REFUSED: Record<string, readonly string[]> = {
  'to run a program': [`copy organizations from program 'id'`, `copy (select 1) to program 'id'`],
  'to read or write files': [`copy organizations from '/etc/passwd'`, `select pg_read_file('/etc/passwd')`],
  'to change audit records': [
    `update audit_records set actor = 'x'`,
    'delete from audit_records',
    'truncate audit_records',
  ],
  'to disable their protection': [
    'alter table audit_records disable trigger all',
    'drop trigger audit_records_are_append_only on audit_records',
    `create or replace function refuse_audit_change() returns trigger language plpgsql as 'begin return null; end'`,
    `set session_replication_role = replica`,
  ],
  'to change the schema': [
    'create table x (y int)',
    'alter table organizations add column x int',
    'drop table organizations',
    'truncate organizations',
    'delete from schema_migrations',
    'create trigger x after insert on organizations for each row execute function refuse_audit_change()',
  ],
  'to become another role': [
    'create role x',
    'set role portico_owner',
    'set role portico',
    `alter role ${SERVICE} superuser`,
  ],
  'to access a partition directly': ['select from events_2026_11_09', 'delete from events_2026_11_09'],
};

for (const [what, statements] of Object.entries(REFUSED))
  test(`the service role is not allowed ${what}`, async () => {
    for (const statement of statements) await assert.rejects(run(statement), { code: DENIED }, statement);
  });

test('the service role inserts and reads audit records, and writes every other table', async () => {
  assert.equal(await readRole(service), SERVICE);
  await run('select from audit_records');
  const { rows } = await sql<{ name: string; missing: boolean }>`
    select relname as name, not has_table_privilege(oid, 'select, insert') or relname <> 'audit_records'
      and not (has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete')) as missing
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not like 'schema_migrations%'`.execute(service.queries);
  assert.ok(rows.length > 20);
  assert.deepEqual(
    rows.filter(({ missing }) => missing),
    [],
  );
});

test('the partition functions create and drop partitions of partitioned tables only', async () => {
  const bounds = `'2020-01-06', '2020-01-13'`;
  for (const statement of [
    `select create_partition('organizations', 'organizations_2020_01_06', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'x', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'event_counters_2020_01_06; x', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'event_counters_2020_01_06', ${bounds}, '{"fillfactor=1); drop table x"}')`,
    `select create_partition('pg_class', 'pg_class_2020_01_06', ${bounds}, '{}')`,
    `select create_partition('event_counters', null, ${bounds}, '{}')`,
    `select drop_partition('organizations', 'organizations', 0)`,
    `select drop_partition('events', 'organizations', 0)`,
    `select drop_partition('events', 'event_counters_2026_11_09', 0)`,
    `select drop_partition('events', 'events', 0)`,
  ])
    await assert.rejects(run(statement), { code: 'P0001' }, statement);
  await run(
    `select create_partition('event_counters', 'event_counters_2020_01_06', ${bounds}, '{fillfactor=70}')`,
  );
  await run(`select drop_partition('event_counters', 'event_counters_2020_01_06', 0)`);
  // A temporary table of the caller does not shadow the real one.
  await run('create temporary table events (guid uuid) partition by range (guid)');
  await assert.rejects(run(`select drop_partition('events', 'pg_class', 0)`), { code: 'P0001' });
});

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Creates and drops a partition that ended this long ago by the clock of the machine. */
async function dropEnded(table: string, boundOf: (moment: Date) => string, days: number, kept = 0) {
  const name = `${table}_2020_01_06`;
  const bounds = [daysAgo(days + 1), daysAgo(days)].map((moment) => `'${boundOf(moment)}'`);
  await run(`select create_partition('${table}', '${name}', ${bounds.join()}, '{}')`);
  try {
    await run(`select drop_partition('${table}', '${name}', ${kept})`);
  } finally {
    await sql.raw(`drop table if exists ${name}`).execute(owner);
  }
}

test('a partition can be dropped only after its retention, and never before the shortest one', async () => {
  await sql`
    do $$ declare partition regclass; begin
      for partition in select inhrelid::regclass from pg_inherits join pg_class on oid = inhrelid
        where relkind = 'r' and inhparent::regclass::text in ('audit_records', 'events', 'event_counters', 'request_log')
      loop execute format('drop table %s', partition); end loop;
    end $$`.execute(owner);
  const moment = (at: Date) => at.toISOString();
  const refused = { code: 'P0001', message: /did not end more than/ };
  for (const [table, boundOf, days] of [
    ['audit_records', firstGuidAt, 30],
    ['events', firstGuidAt, 8],
    ['event_counters', moment, 8],
    ['request_log', firstGuidAt, 7],
  ] as const) {
    await dropEnded(table, boundOf, days + 0.1);
    await assert.rejects(dropEnded(table, boundOf, days - 0.1), refused, table);
    await assert.rejects(dropEnded(table, boundOf, -300), refused, table);
    await dropEnded(table, boundOf, 50.1, 50);
    await assert.rejects(dropEnded(table, boundOf, 49.9, 50), refused, table);
  }
  // Settings of the session cannot make a bound look older.
  await sql`set datestyle = 'SQL, DMY'; set timezone = 'UTC-160'`.execute(service.queries);
  await assert.rejects(dropEnded('event_counters', moment, 7.9), refused);
  await sql`reset datestyle; reset timezone`.execute(service.queries);
  await sql`create table events_rest partition of events default`.execute(owner);
  await assert.rejects(run(`select drop_partition('events', 'events_rest', 0)`), refused);
});

test('grants are idempotent and revoke manual grants', async () => {
  await sql`create table events_2019_12_30 partition of events for values from (${sql.lit(firstGuidAt(new Date('2019-12-30')))})
    to (${sql.lit(firstGuidAt(new Date('2020-01-06')))})`.execute(owner);
  await sql`grant all on audit_records, events_2019_12_30 to ${sql.id(SERVICE)}`.execute(owner);
  const again = createDatabase({ url: testDatabase.ownerUrl, connections: 1, log });
  await grantToService(again, SERVICE);
  await grantToService(again, SERVICE);
  await grantToService(again, await readRole(again));
  await again.close();
  await assert.rejects(run('truncate audit_records'), { code: DENIED });
  await assert.rejects(run('select from events_2019_12_30'), { code: DENIED });
});

test('grants succeed while a node drops a partition', async () => {
  const again = createDatabase({ url: testDatabase.ownerUrl, connections: 1, log });
  await run(
    `select create_partition('event_counters', 'event_counters_2020_01_06', '2020-01-06', '2020-01-13', '{}')`,
  );
  let granting: Promise<void> | undefined;
  await service.transaction(async (node) => {
    await sql`select drop_partition('event_counters', 'event_counters_2020_01_06', 0)`.execute(node);
    granting = grantToService(again, SERVICE);
    while ((await lockWaits(owner)) === 0) await setImmediate();
  });
  await granting;
  await again.close();
});
