import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo, openTestDatabase } from '../../testing/database/database.ts';
import type { Queries } from '../infrastructure/database/database.ts';
import { migrate } from '../infrastructure/database/migrate.ts';
import { firstGuidAt } from '../infrastructure/runtime/guid.ts';

/** 0012: customers become objects while nodes of the previous version still use their own table. */
const { database } = await openTestDatabase({ migrated: false, connections: 3 });
const { queries } = database;

const [ORGANIZATION, BANK, NAMED, NAMELESS, OLD, NEW] = Array.from({ length: 6 }, (_, index) =>
  `${index}`.repeat(32),
) as [string, string, string, string, string, string];
const THEN = '2026-11-01T00:00:00Z';
const NOW = new Date('2026-11-15T12:00:00Z');

/** As a node of the previous version does. */
const insertCustomer = (guid: string, type: string, name: string | null) => sql`
  insert into customers values (${guid}, ${ORGANIZATION}, ${BANK}, 'sandbox', ${type}, ${name}, ${THEN}, ${THEN})`;

async function customers(on: Queries) {
  const { rows } = await sql<{ guid: string; type: string; name: string | null }>`
    select guid, type, name from customers order by guid`.execute(on);
  return rows.map(({ guid, type, name }) => [guid, { type, ...(name !== null && { name }) }]);
}

async function objects(on: Queries) {
  const rows = await on.selectFrom('objects').selectAll().orderBy('guid').execute();
  return rows.map(({ guid, details }) => [guid, details]);
}

test('existing customers become objects', async () => {
  await database.maintain((on) => migrateTo(on, '0010_deliveries'));
  await sql`insert into organizations values (${ORGANIZATION}, 'Acme', false, '{}', ${THEN}, ${THEN})`.execute(
    queries,
  );
  await sql`insert into banks values (${BANK}, ${ORGANIZATION}, 'Bank', 'sandbox', ${THEN}, ${THEN})`.execute(
    queries,
  );
  await insertCustomer(NAMED, 'business', 'Ada').execute(queries);
  await insertCustomer(NAMELESS, 'individual', null).execute(queries);
  await migrate(database);
  assert.deepEqual(await objects(queries), await customers(queries));
  const { details: _, ...row } = await queries
    .selectFrom('objects')
    .selectAll()
    .where('guid', '=', NAMED)
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, {
    ...{ guid: NAMED, organization_guid: ORGANIZATION, bank_guid: BANK, environment: 'sandbox' },
    ...{ customer_guid: NAMED, type: 'customer', state: null, labels: [] },
    ...{ created_at: new Date(THEN), updated_at: new Date(THEN), ending: null, next_move_at: null },
    guid_time_differs: true,
  });
});

test('new nodes see the writes of a node of the previous version', async () => {
  await insertCustomer(OLD, 'business', null).execute(queries);
  await sql`update customers set name = 'Grace', updated_at = ${NOW} where guid = ${NAMELESS}`.execute(
    queries,
  );
  const found = new Map((await objects(queries)) as [string, unknown][]);
  assert.deepEqual(found.get(OLD), { type: 'business' });
  assert.deepEqual(found.get(NAMELESS), { type: 'individual', name: 'Grace' });
  assert.deepEqual(await objects(queries), await customers(queries));
});

test('nodes of the previous version see the writes of a new node', async () => {
  const row = await queries
    .selectFrom('objects')
    .selectAll()
    .where('guid', '=', OLD)
    .executeTakeFirstOrThrow();
  const insert = (guid: string, type: string, details: object) =>
    queries
      .insertInto('objects')
      .values({ ...row, guid, customer_guid: guid, type, details: JSON.stringify(details) })
      .execute();
  await insert(NEW, 'customer', { type: 'individual', name: 'Alan' });
  await queries
    .updateTable('objects')
    .set({ details: JSON.stringify({ type: 'business' }) })
    .where('guid', '=', NAMED)
    .execute();
  assert.deepEqual(await customers(queries), await objects(queries));
  await insert('6'.repeat(32), 'transfer', {});
  assert.equal((await customers(queries)).length, 4, 'only customers');
});

test('an object whose guid has another time is marked by both versions', async () => {
  const insert = async (guid: string, createdAt: string) => {
    // Without the column, as a node of the previous version does.
    await sql`insert into objects (guid, organization_guid, environment, bank_guid, type, details, labels, created_at,
        updated_at)
      values (${guid}, ${ORGANIZATION}, 'sandbox', ${BANK}, 'account', '{}', '{}', ${createdAt}, ${createdAt})`.execute(
      queries,
    );
    const row = await queries
      .selectFrom('objects')
      .select('guid_time_differs')
      .where('guid', '=', guid)
      .executeTakeFirstOrThrow();
    return row.guid_time_differs;
  };
  const at = new Date('2026-11-15T12:00:00.000Z').getTime();
  for (const [minutes, differs] of [
    [0, false],
    [5, false],
    [-5, false],
    [5.001, true],
    [-5.001, true],
  ] as const)
    assert.equal(
      await insert(firstGuidAt(new Date(at - minutes * 60_000)), new Date(at).toISOString()),
      differs,
      `${minutes} minutes`,
    );
});
