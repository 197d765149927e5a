import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase, fill, queriesOfOwner } from '../../../testing/database/database.ts';
import { createQueryCost } from '../../../testing/database/query-cost.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { reportObject } from '../../../testing/objects/objects.ts';
import { uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { lockAccounts, selectHoldings } from './account-store.ts';

/** The simulator finds the accounts of a customer without reading the others, of this customer or of other tenants. */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const cost = createQueryCost(testDatabase);
after(async () => {
  await cost.close();
  await testDatabase.drop();
});

const ACCOUNTS = 20_000;
const ACCOUNTS_OF_ONE = 5_000;
const MAX_BLOCKS = 30;

/**
 * One batch of the simulator has up to 200 holdings. If each of them read all accounts of its customer, one customer with
 * many accounts could stop the simulation of every Organization.
 */
const HOLDINGS = 200;
/** Blocks: a few of the index for each holding. All accounts of the customer have over a hundred. */
const MAX_BLOCKS_PER_HOLDING = 5;

/** Few, with the same number of accounts at each time: then the planner considers the primary key the cheapest. */
const large = [await createTenant(app), await createTenant(app), await createTenant(app)];
const small = await createTenant(app);
const customerGuid = await createCustomer(app, small.bankGuid);
const details = { type: 'trading', asset: 'BTC', balance: 1 };
const account = await reportObject(app, 'account', { ...small, customerGuid }, { details });
const owner = queriesOfOwner(testDatabase);
const now = app.clock.now();

/** Accounts of other tenants, all older than the one of the small tenant. */
const customers = await Promise.all(large.map(({ bankGuid }) => createCustomer(app, bankGuid)));
await fill(
  app.database,
  sql`
    insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                         created_at, updated_at)
    select (lpad(to_hex(${now.getTime()}::bigint - n * 60000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
           tenants.organization_guid, 'sandbox', tenants.bank_guid, tenants.customer_guid, 'account', 'sufficient',
           '{"type": "fiat", "asset": "USD", "balance": 1000}', '{}', ${now}::timestamptz, ${now}::timestamptz
    from generate_series(1, ${ACCOUNTS}::int) as n
    join unnest(${uuidArray(large.map((each) => each.organizationGuid))},
                ${uuidArray(large.map(({ bankGuid }) => bankGuid))}, ${uuidArray(customers)})
      with ordinality as tenants(organization_guid, bank_guid, customer_guid, place)
      on place = 1 + n % ${large.length}::int
    order by n desc`,
);
await sql`analyze objects`.execute(owner);

const { organizationGuid } = small;

test('the account of an asset is found in few blocks, and so is its absence', async () => {
  for (const [asset, expected] of [
    ['BTC', 1],
    ['USD', 0],
  ] as const) {
    const blocks = await cost.blocksOf(async (queries) => {
      // As with a larger table, from which the planner expects too many rows to sort.
      await sql`set enable_sort = off`.execute(queries);
      const found = await selectHoldings(queries as Transaction, [{ organizationGuid, customerGuid, asset }]);
      assert.equal(found.length, expected);
    });
    assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks for ${asset}`);
  }
});

test('accounts are locked in few blocks, and only those of the Organizations', async () => {
  for (const [organization, expected] of [
    [organizationGuid, 1],
    [large[0]?.organizationGuid ?? '', 0],
  ] as const) {
    const blocks = await cost.blocksOf(async (queries) => {
      const locked = await lockAccounts(queries as Transaction, [organization], [account]);
      assert.equal(locked.size, expected);
    });
    assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks`);
  }
});

test('a holding is found without reading the other accounts of the customer', async () => {
  const { organizationGuid, bankGuid } = await createTenant(app);
  const customerGuid = await createCustomer(app, bankGuid);
  await fill(
    app.database,
    sql`
    insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                         created_at, updated_at)
    select (lpad(to_hex(${now.getTime()}::bigint), 12, '0') || '70009' || lpad(to_hex(n), 15, '0'))::uuid,
      ${organizationGuid}, 'sandbox', ${bankGuid}, ${customerGuid}, 'account', 'funded',
      case when n < ${ACCOUNTS_OF_ONE} then '{"type": "fiat", "asset": "ZZ", "balance": 1}'::jsonb
        else '{"type": "fiat", "asset": "A1", "balance": 1}' end,
      '{}', ${now}::timestamptz, ${now}::timestamptz
    from generate_series(1, ${ACCOUNTS_OF_ONE}::int) as n`,
  );
  await sql`analyze objects`.execute(owner);
  const holdings = Array.from({ length: HOLDINGS }, (_, n) => ({
    ...{ organizationGuid, customerGuid, asset: `A${n}` },
  }));
  let found: { asset: string }[] = [];
  const blocks = await cost.blocksOf(async (queries) => {
    found = await selectHoldings(queries as Transaction, holdings);
  });
  assert.deepEqual(
    found.map(({ asset }) => asset),
    ['A1'],
  );
  assert.ok(blocks <= HOLDINGS * MAX_BLOCKS_PER_HOLDING, `${blocks} blocks`);
});
