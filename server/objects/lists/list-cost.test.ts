import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app.ts';
import { createCustomer } from '../../../testing/customers.ts';
import { createTestDatabase, queriesOfOwner } from '../../../testing/database.ts';
import { createQueryCost } from '../../../testing/query-cost.ts';
import { createTenant } from '../../../testing/tenant.ts';
import type { Visible } from '../store.ts';
import { type ObjectFilters, selectObjects } from './list-store.ts';

/** A page of objects reads only the rows it returns, however rare they are and whatever the size of the table. */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const { organizationGuid, bankGuid } = await createTenant(app);
const customerGuid = await createCustomer(app, bankGuid);
const cost = createQueryCost(testDatabase);
after(async () => {
  await cost.close();
  await testDatabase.drop();
});

const OBJECTS = 30_000;
/**
 * Blocks: the whole table has over a thousand, and the 10,000 rows that a total counts at most have a third of
 * them.
 */
const MAX_BLOCKS_OF_MANY = 500;
const MAX_BLOCKS_OF_FEW = 60;
const RARE = 5;
const now = app.clock.now().getTime();
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/**
 * One object a minute until now, all completed except for the oldest few, which have the rare type. The last one
 * was reported a day ago with the lowest possible guid.
 */
await sql`
  insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                       created_at, updated_at, guid_time_differs)
  select (lpad(to_hex(${now}::bigint - n * 60000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
         ${organizationGuid}::uuid, 'sandbox', ${bankGuid}::uuid, ${customerGuid}::uuid, 'account',
         case when n > ${OBJECTS - RARE}::int then 'failed' else 'completed' end,
         jsonb_build_object('type', case when n > ${OBJECTS - RARE}::int then 'reserve' else 'customer' end), '{}',
         created, created, n = ${OBJECTS}::int
  from generate_series(1, ${OBJECTS}::int) as n,
       to_timestamp((case when n = ${OBJECTS}::int then ${now - DAY_MS}::bigint else ${now}::bigint - n * 60000 end)
                    / 1000.0) as created`.execute(app.database.queries);
await sql`analyze objects`.execute(queriesOfOwner(testDatabase));

const TOKENS: Record<string, Visible> = {
  'an Organization token': { organizationGuid, environment: 'sandbox' },
  'a user token': { organizationGuid },
  'a bank token': { organizationGuid, environment: 'sandbox', bankGuid },
  'a customer token': { organizationGuid, environment: 'sandbox', bankGuid, customerGuid },
};

const at = (ms: number) => new Date(ms);
const FILTERS: Record<string, [filters: ObjectFilters, total: number]> = {
  'no filter': [{}, 10_000],
  'a rare state': [{ state: ['failed'] }, RARE],
  'a state that no object has': [{ state: ['cancelled'] }, 0],
  'a rare and a common state': [{ state: ['failed', 'completed'] }, 10_000],
  'a rare type': [{ type: ['reserve'] }, RARE],
  'a type that no object has': [{ type: ['nothing'] }, 0],
  'two types': [{ type: ['reserve', 'customer'] }, 10_000],
  'a rare state of a bank and a customer': [
    { state: ['failed'], bankGuid: [bankGuid], customerGuid: [customerGuid] },
    RARE,
  ],
  'the other environment': [{ environment: ['production'] }, 0],
  'a state in the other environment': [{ state: ['completed'], environment: ['production'] }, 0],
  'the last hour': [{ createdAtGte: at(now - HOUR_MS) }, 60],
  'the hour around a late report': [
    { createdAtGte: at(now - DAY_MS - HOUR_MS / 2), createdAtLt: at(now - DAY_MS + HOUR_MS / 2) },
    61,
  ],
  'a time before all of them': [{ createdAtLt: at(now - 2 * OBJECTS * 60_000) }, 0],
  'a time after all of them': [{ createdAtGte: at(now + DAY_MS) }, 0],
};

for (const [token, visible] of Object.entries(TOKENS))
  test(`${token}: a page by any filter reads few blocks, and so does its total`, async () => {
    const page = { number: 0, perPage: 20, offset: 0, after: undefined };
    for (const [name, [filters, total]] of Object.entries(FILTERS)) {
      const blocks = await cost.blocksOf(async (queries) => {
        const found = await selectObjects(queries, visible, 'account', page, filters);
        assert.equal(found.total, total, name);
        assert.equal(found.rows.length, Math.min(20, total), name);
        const guids = found.rows.map(({ guid }) => guid);
        assert.deepEqual(guids, guids.toSorted().reverse(), name);
      });
      assert.ok(
        blocks <= (total === 10_000 ? MAX_BLOCKS_OF_MANY : MAX_BLOCKS_OF_FEW),
        `${blocks} blocks for ${name}`,
      );
    }
  });

test('another tenant reads no rows of this one', async () => {
  const other = { organizationGuid: (await createTenant(app)).organizationGuid };
  const page = { number: 0, perPage: 20, offset: 0, after: undefined };
  for (const [name, [filters]] of Object.entries(FILTERS)) {
    const blocks = await cost.blocksOf((queries) => selectObjects(queries, other, 'account', page, filters));
    assert.ok(blocks <= MAX_BLOCKS_OF_FEW, `${blocks} blocks for ${name}`);
  }
});
