import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, queriesOfOwner } from '../../testing/database.ts';
import { createLog } from '../runtime/log.ts';
import { createDatabase } from './database.ts';
import { SERVICE } from './embedded/roles.ts';
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
  'to switch off what protects them': [
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
  'to reach a partition behind its parent': [
    'select from events_2026_11_09',
    'delete from events_2026_11_09',
  ],
};

for (const [what, statements] of Object.entries(REFUSED))
  test(`the service role is refused ${what}`, async () => {
    for (const statement of statements) await assert.rejects(run(statement), { code: DENIED }, statement);
  });

test('it adds and reads audit records, and works on every other table', async () => {
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

test('its functions make and drop partitions of partitioned tables, and nothing else', async () => {
  const bounds = `'2040-01-02', '2040-01-09'`;
  for (const statement of [
    `select create_partition('organizations', 'organizations_2040_01_02', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'x', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'event_counters_2040_01_02; x', ${bounds}, '{}')`,
    `select create_partition('event_counters', 'event_counters_2040_01_02', ${bounds}, '{"fillfactor=1); drop table x"}')`,
    `select create_partition('pg_class', 'pg_class_2040_01_02', ${bounds}, '{}')`,
    `select create_partition('event_counters', null, ${bounds}, '{}')`,
    `select drop_partition('organizations', 'organizations')`,
    `select drop_partition('events', 'organizations')`,
    `select drop_partition('events', 'event_counters_2026_11_09')`,
    `select drop_partition('events', 'events')`,
  ])
    await assert.rejects(run(statement), { code: 'P0001' }, statement);
  await run(
    `select create_partition('event_counters', 'event_counters_2040_01_02', ${bounds}, '{fillfactor=70}')`,
  );
  await run(`select drop_partition('event_counters', 'event_counters_2040_01_02')`);
  // A table of the caller's own does not come before the real one.
  await run('create temporary table events (guid uuid) partition by range (guid)');
  await assert.rejects(run(`select drop_partition('events', 'pg_class')`), { code: 'P0001' });
});

test('grants are repeated as often as wanted, and take back what was given by hand', async () => {
  await sql`grant all on audit_records to ${sql.id(SERVICE)}`.execute(owner);
  const again = createDatabase({ url: testDatabase.ownerUrl, connections: 1, log });
  await grantToService(again, SERVICE);
  await grantToService(again, SERVICE);
  await grantToService(again, await readRole(again));
  await again.close();
  await assert.rejects(run('truncate audit_records'), { code: DENIED });
});
