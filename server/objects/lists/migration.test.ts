import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo, openTestDatabase } from '../../../testing/database/database.ts';
import { migrate } from '../../infrastructure/database/migrate.ts';

/** 0044: existing objects and deliveries are found by the new filters. */
const { database } = await openTestDatabase({ migrated: false, connections: 3 });
const { queries } = database;

const [ORGANIZATION, BANK, TRADE, LATE, PROMPT] = Array.from({ length: 5 }, (_, index) =>
  `${index}`.repeat(32),
) as [string, string, string, string, string];
const THEN = '2026-11-01T00:00:00Z';

async function valuesOf(guid: string): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`
    select value from object_filter_values where guid = ${guid} order by value`.execute(queries);
  return rows.map(({ value }) => value);
}

test('existing rows get their values, and values that an object no longer has are removed', async () => {
  await database.maintain((on) => migrateTo(on, '0040_delivery_batches'));
  await sql`
    insert into organizations (guid, name, live, features, created_at, updated_at)
    values (${ORGANIZATION}, 'Acme', false, '{}', ${THEN}, ${THEN})`.execute(queries);
  await sql`
    insert into banks (guid, organization_guid, name, environment, created_at, updated_at)
    values (${BANK}, ${ORGANIZATION}, 'Bank', 'sandbox', ${THEN}, ${THEN})`.execute(queries);
  await sql`
    insert into objects (guid, organization_guid, environment, bank_guid, type, state, details, labels, created_at,
      updated_at)
    values (${TRADE}, ${ORGANIZATION}, 'sandbox', ${BANK}, 'trade', 'storing', '{"side": "buy", "amount": 1}', '{vip}',
      ${THEN}, ${THEN})`.execute(queries);
  await sql`create table deliveries_all partition of deliveries default`.execute(queries);
  for (const [guid, minutes] of [
    [LATE, 6],
    [PROMPT, 5],
  ] as const)
    await sql`
      insert into deliveries (subscription_guid, guid, organization_guid, environment, event_guid, event_type,
        object_guid, attempt_count, created_at, updated_at, completed_at)
      values (${BANK}, ${guid}, ${ORGANIZATION}, 'sandbox', ${guid}, 'trade.storing', ${TRADE}, 1, ${THEN}, ${THEN},
        ${THEN}::timestamptz + make_interval(mins => ${minutes}))`.execute(queries);

  await database.maintain((on) => migrateTo(on, '0044_filters_of_existing_rows'));
  assert.deepEqual(await valuesOf(TRADE), ['trade.label:vip', 'trade.side:buy']);
  // As if the label had been removed while the migration read the object.
  await sql`
    insert into object_filter_values values (${ORGANIZATION}, 'sandbox', ${BANK}, null, 'trade.label:old', ${TRADE})`.execute(
    queries,
  );
  await migrate(database);
  assert.deepEqual(await valuesOf(TRADE), ['trade.label:vip', 'trade.side:buy']);
  const deliveries = await queries.selectFrom('deliveries').selectAll().orderBy('guid').execute();
  assert.deepEqual(
    deliveries.map(({ late_completed_at: at }) => at?.toISOString()),
    ['2026-11-01T00:06:00.000Z', undefined],
  );
});

const ACCOUNT = '5'.repeat(32);
const versionsOf = async (guid: string) =>
  (
    await sql<{ value: string; xmin: string }>`
      select value, xmin::text from object_filter_values where guid = ${guid} order by value`.execute(queries)
  ).rows;

test('a transition, an amount and a balance write no values', async () => {
  await sql`
    insert into objects (guid, organization_guid, environment, bank_guid, type, state, details, labels, created_at,
      updated_at)
    values (${ACCOUNT}, ${ORGANIZATION}, 'sandbox', ${BANK}, 'account', 'sufficient',
      '{"type": "fiat", "asset": "USD", "balance": 1000}', '{vip}', ${THEN}, ${THEN})`.execute(queries);
  const before = [await versionsOf(TRADE), await versionsOf(ACCOUNT)];
  assert.deepEqual(
    before.map(({ length }) => length),
    [2, 2],
  );
  await sql`update objects set state = 'pending', details = details || '{"amount": 2}' where guid = ${TRADE}`.execute(
    queries,
  );
  await sql`update objects set state = 'low', details = details || '{"balance": 600}' where guid = ${ACCOUNT}`.execute(
    queries,
  );
  assert.deepEqual([await versionsOf(TRADE), await versionsOf(ACCOUNT)], before);
});

test('a changed value writes this value only, a changed customer writes all', async () => {
  const [asset, label] = await versionsOf(ACCOUNT);
  await sql`update objects set labels = '{gold,vip}' where guid = ${ACCOUNT}`.execute(queries);
  const labelled = await versionsOf(ACCOUNT);
  assert.deepEqual(
    labelled.map(({ value }) => value),
    ['account.asset:USD', 'account.label:gold', 'account.label:vip'],
  );
  assert.deepEqual([labelled[0], labelled[2]], [asset, label]);
  await sql`update objects set labels = '{gold}' where guid = ${ACCOUNT}`.execute(queries);
  assert.deepEqual(await versionsOf(ACCOUNT), labelled.slice(0, 2));
  await sql`update objects set customer_guid = ${TRADE} where guid = ${ACCOUNT}`.execute(queries);
  const { rows } = await sql`
    select value, customer_guid from object_filter_values where guid = ${ACCOUNT} order by value`.execute(
    queries,
  );
  assert.deepEqual(
    rows,
    ['account.asset:USD', 'account.label:gold'].map((value) => ({ value, customer_guid: TRADE })),
  );
});
