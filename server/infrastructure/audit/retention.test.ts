import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTestDatabase, fill, migrateTo, queriesOfOwner } from '../../../testing/database/database.ts';
import { createQueryCost } from '../../../testing/database/query-cost.ts';
import { createDatabase, type Queries } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { buildMissingIndexes } from '../database/partitions/partition-indexes.ts';
import { createPartitions, HISTORY_TABLES } from '../database/partitions/partitions.ts';
import { createGuids } from '../runtime/guid.ts';
import { createLog } from '../runtime/log.ts';
import { createAudit } from './service.ts';
import { type AuditFilters, selectActions, selectRecordedNames, selectRecords } from './store.ts';

const DAY_MS = 86_400_000;
/** In the past, because the database drops only partitions that are old by its own clock. */
const START = new Date('2020-11-15T12:00:00.000Z');
const log = createLog({ level: 'silent', terminal: false });

async function open({ migrated = true } = {}) {
  const testDatabase = await createTestDatabase({ migrated });
  const database = createDatabase({ url: testDatabase.url, connections: 3, log });
  after(async () => {
    await database.close();
    await testDatabase.drop();
  });
  const clock = createFakeClock(START);
  const guids = createGuids({ clock, randomBytes });
  const audit = createAudit({ queries: database.lists, clock, guids });
  const retention = { retentionDays: 30, auditRetentionDays: 400 };
  const partitions = createPartitions({ database, clock, log, ...retention, tables: HISTORY_TABLES });
  const actor = { type: 'system', id: 'portico' } as const;
  async function record(objectId: string): Promise<void> {
    const change = { action: 'test.record', objectType: 'test', objectId } as const;
    await database.transaction((transaction) => audit.record(transaction, actor, change));
  }
  async function recorded(): Promise<string[]> {
    const page = { number: 0, perPage: 100, offset: 0, after: undefined };
    return (await audit.list(page, {})).rows.map((row) => row.object_id);
  }
  return { testDatabase, database, clock, guids, partitions, record, recorded };
}

test('a record is kept for 400 days and dropped with its partition of four weeks', async () => {
  const { clock, partitions, record, recorded } = await open();
  await partitions.prepare();
  await record('first');
  clock.advance(400 * DAY_MS);
  await partitions.prepare();
  await partitions.dropOld();
  await record('second');
  assert.deepEqual(await recorded(), ['second', 'first']);
  clock.advance(28 * DAY_MS);
  await partitions.prepare();
  const dropped = await partitions.dropOld();
  assert.ok(dropped.some((name) => name.startsWith('audit_records_2020')));
  assert.deepEqual(await recorded(), ['second']);
});

test('records from before the partitions are kept, found and append-only', async () => {
  const { testDatabase, database, clock, guids, partitions, record, recorded } = await open({
    migrated: false,
  });
  const { queries } = database;
  await database.maintain((on) => migrateTo(on, '0016_consignments'));
  await sql`
    insert into audit_records (guid, actor_type, actor, action, object_type, object_id, changes, created_at)
    values (${guids.next()}, 'system', 'portico', 'test.record', 'test', 'old', '{}', ${START})`.execute(
    queries,
  );
  await migrate(database);
  await partitions.prepare();
  await record('next');
  clock.advance(28 * DAY_MS);
  await record('new');
  assert.deepEqual(await recorded(), ['new', 'next', 'old']);
  assert.equal(await isValid(queries, 'audit_records_by_organization_action'), false);
  const built = await buildMissingIndexes({ database, log });
  assert.ok(built.includes('audit_records_before_audit_records_by_organization_action'), String(built));
  assert.equal(await isValid(queries, 'audit_records_by_organization_action'), true);
  assert.deepEqual(await buildMissingIndexes({ database, log }), []);
  await assertAppendOnly(queries);
  const cost = createQueryCost(testDatabase);
  assert.ok((await cost.blocksOf((own) => selectRecords(own, PAGE, { action: ['test.record'] }))) > 0);
  await cost.close();
});

const PAGE = { number: 0, perPage: 20, offset: 0, after: undefined };

async function isValid(queries: Queries, index: string): Promise<boolean | undefined> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = ${index}::regclass`.execute(queries);
  return rows[0]?.valid;
}

/** By the name of the parent and by that of a partition. */
async function assertAppendOnly(queries: Queries): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tableoid::regclass::text as name from audit_records
    union select 'audit_records'`.execute(queries);
  assert.ok(rows.length >= 2);
  for (const { name } of rows)
    for (const change of [
      sql`update ${sql.table(name)} set actor = 'changed'`,
      sql`delete from ${sql.table(name)}`,
      sql`truncate ${sql.table(name)}`,
    ])
      await assert.rejects(change.execute(queries), /append-only/, name);
}

test('a partition cannot be changed by its own name', async () => {
  const { testDatabase, partitions, record } = await open();
  await partitions.prepare();
  await record('kept');
  await assertAppendOnly(queriesOfOwner(testDatabase));
});

test('a page of an Organization reads few blocks with every filter, whatever others have', async () => {
  const { testDatabase, database, guids, partitions } = await open();
  await partitions.prepare();
  const [many, few] = [guids.next(), guids.next()];
  await fill(
    database,
    sql`
    insert into audit_records
    select (lpad(to_hex(${START.getTime()}::bigint + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
      case when n <= 5 then ${few} when n <= 30000 then ${many} end::uuid, 'system', 'portico', 'object.create', 'object',
      case when n <= 30000 then n::text else 'unknown' end, '{}', null, null, ${START}
    from generate_series(1, 60000) as n`,
  );
  await sql`analyze audit_records`.execute(queriesOfOwner(testDatabase));
  const cost = createQueryCost(testDatabase);
  const FILTERS: AuditFilters[] = [
    {},
    { action: ['object.create'] },
    { actor: ['portico'] },
    { action: ['object.create', 'object.report'], actor: ['portico'] },
    { objectId: ['29000', '4'] },
    { createdAtGte: START },
  ];
  for (const filters of FILTERS) {
    const blocks = await cost.blocksOf((queries) =>
      selectRecords(queries, PAGE, { ...filters, organizationGuid: [few] }),
    );
    assert.ok(blocks <= 60, `${blocks} blocks for ${JSON.stringify(filters)}`);
  }
  for (const filters of [{ action: ['nothing'] }, { actor: ['unknown'] }, { objectId: ['unknown'] }]) {
    const blocks = await cost.blocksOf((queries) =>
      selectRecords(queries, PAGE, { ...filters, organizationGuid: [many] }),
    );
    assert.ok(blocks <= 60, `${blocks} blocks for ${JSON.stringify(filters)}`);
  }
  for (const tenant of [[many], [few], undefined]) {
    const blocks = await cost.blocksOf((queries) => selectActions(queries, tenant, ['object.']));
    assert.ok(blocks <= 60, `${blocks} blocks for the actions of ${tenant}`);
  }
  const names = await cost.blocksOf((queries) =>
    selectRecordedNames(queries, many, ['4', '29000', 'unknown']),
  );
  assert.ok(names <= 60, `${names} blocks for names`);
  await cost.close();
});
