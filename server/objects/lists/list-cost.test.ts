import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase, fill, queriesOfOwner } from '../../../testing/database/database.ts';
import { createQueryCost } from '../../../testing/database/query-cost.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
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

const RARE_GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const RARE_DETAILS = {
  type: 'reserve',
  asset: 'EUR',
  side: 'sell',
  symbol: 'BTC-EUR',
  transfer_type: 'crypto',
  plan_guid: RARE_GUID,
  quote_guid: RARE_GUID,
  source_account_guid: RARE_GUID,
};
/** Old objects that changed an hour ago. */
const CHANGED = 10;
const [CHANGED_FROM, CHANGED_UNTIL] = [OBJECTS - 1_000, OBJECTS - 1_000 + CHANGED];
const owner = queriesOfOwner(testDatabase);

/**
 * One object a minute until now, all completed except for the oldest few, which have the rare values. The last one was
 * reported a day ago with the lowest possible guid.
 */
await fill(
  app.database,
  sql`
  insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                       created_at, updated_at, guid_time_differs)
  select (lpad(to_hex(${now}::bigint - n * 60000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
         ${organizationGuid}::uuid, 'sandbox', ${bankGuid}::uuid, ${customerGuid}::uuid, 'account',
         case when rare then 'failed' else 'completed' end,
         case when rare then ${JSON.stringify(RARE_DETAILS)}::jsonb else '{"type": "customer", "asset": "USD"}' end,
         case when rare then '{vip,gold}'::text[] else '{}' end,
         created,
         case when n between ${CHANGED_FROM + 1}::int and ${CHANGED_UNTIL}::int
              then to_timestamp(${now - HOUR_MS}::bigint / 1000.0) else created end,
         n = ${OBJECTS}::int
  from generate_series(1, ${OBJECTS}::int) as n,
       to_timestamp((case when n = ${OBJECTS}::int then ${now - DAY_MS}::bigint else ${now}::bigint - n * 60000 end)
                    / 1000.0) as created,
       lateral (select n > ${OBJECTS - RARE}::int) as rarity(rare)`,
);
/** Objects that all changed an hour ago, the newest three except. */
const LATE = 2_500;
await sql`
  insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                       created_at, updated_at)
  select (lpad(to_hex(${now - DAY_MS}::bigint - n * 60000), 12, '0') || '70009' || lpad(to_hex(n), 15, '0'))::uuid,
         ${organizationGuid}::uuid, 'sandbox', ${bankGuid}::uuid, ${customerGuid}::uuid, 'plan', 'storing', '{}', '{}',
         created, case when n <= 3 then created else to_timestamp(${now - HOUR_MS}::bigint / 1000.0) end
  from generate_series(1, ${LATE}::int + 3) as n,
       to_timestamp((${now - DAY_MS}::bigint - n * 60000) / 1000.0) as created`.execute(owner);
await sql`analyze objects, object_filter_values`.execute(owner);

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
  'a rare asset': [{ asset: ['EUR'] }, RARE],
  'an asset that no object has': [{ asset: ['CHF'] }, 0],
  'a common asset': [{ asset: ['USD'] }, 10_000],
  'a rare and a common asset': [{ asset: ['EUR', 'USD'] }, 10_000],
  'a side': [{ side: ['sell'] }, RARE],
  'a symbol': [{ symbol: ['BTC-EUR'] }, RARE],
  'a transfer type': [{ transferType: ['crypto'] }, RARE],
  'a plan': [{ planGuid: [RARE_GUID] }, RARE],
  'a quote': [{ quoteGuid: [RARE_GUID] }, RARE],
  'an account': [{ accountGuid: [RARE_GUID] }, RARE],
  'two labels of the same objects': [{ label: ['vip', 'gold'] }, RARE],
  'a label and a common state': [{ label: ['vip'], state: ['completed'] }, 0],
  'a common asset and a rare state': [{ asset: ['EUR', 'USD'], state: ['failed'] }, RARE],
  'a label and a rare side': [{ label: ['vip'], side: ['sell'], asset: ['EUR'] }, RARE],
  'a rare asset within a time': [{ asset: ['EUR'], createdAtGte: at(now - 2 * DAY_MS) }, 1],
  'changes of the last half hour': [{ updatedAtGte: at(now - HOUR_MS / 2) }, 30],
  'changes of the last 90 minutes': [{ updatedAtGte: at(now - 1.5 * HOUR_MS) }, 90 + CHANGED],
  'changes of an hour': [
    { updatedAtGte: at(now - 1.5 * HOUR_MS), updatedAtLt: at(now - HOUR_MS / 2) },
    60 + CHANGED,
  ],
  'changes of an hour to old objects': [
    { updatedAtGte: at(now - 1.5 * HOUR_MS), createdAtLt: at(now - 10 * DAY_MS) },
    CHANGED,
  ],
  'changes of objects with a rare asset': [{ updatedAtGte: at(now - 2 * DAY_MS), asset: ['EUR'] }, 1],
  'changes before all of them': [{ updatedAtLt: at(now - 2 * OBJECTS * 60_000) }, 0],
  'changes until now': [{ updatedAtLt: at(now) }, 10_000],
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

test('many late changes in a time window are read in the order of their guids', async () => {
  const page = { number: 0, perPage: 20, offset: 0, after: undefined };
  const window = { updatedAtGte: at(now - 1.5 * HOUR_MS), updatedAtLt: at(now) };
  for (const visible of Object.values(TOKENS)) {
    const blocks = await cost.blocksOf(async (queries) => {
      const { rows, total } = await selectObjects(queries, visible, 'plan', page, window);
      assert.equal(total, LATE);
      assert.deepEqual(
        rows.map(({ created_at }) => (now - DAY_MS - created_at.getTime()) / 60_000),
        Array.from({ length: 20 }, (_, index) => index + 4),
      );
    });
    assert.ok(blocks <= MAX_BLOCKS_OF_MANY, `${blocks} blocks`);
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
