import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app.ts';
import { createCustomer } from '../../../testing/customers.ts';
import { createTestDatabase, queriesOfOwner } from '../../../testing/database.ts';
import { createQueryCost } from '../../../testing/query-cost.ts';
import { createTenant } from '../../../testing/tenant.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { selectHoldings } from './account-store.ts';

/**
 * One batch of the simulator has up to 200 holdings. If each of them read all accounts of its customer, one customer with
 * many accounts could stop the simulation of every Organization.
 */
const ACCOUNTS = 5_000;
const HOLDINGS = 200;
/** Blocks: a few of the index for each holding. All accounts have over a hundred. */
const MAX_BLOCKS_PER_HOLDING = 5;

const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const { organizationGuid, bankGuid } = await createTenant(app);
const customerGuid = await createCustomer(app, bankGuid);
const cost = createQueryCost(testDatabase);
after(async () => {
  await cost.close();
  await testDatabase.drop();
});

test('a holding is found without reading the other accounts of the customer', async () => {
  const owner = queriesOfOwner(testDatabase);
  await sql`
    insert into objects (guid, organization_guid, environment, bank_guid, customer_guid, type, state, details, labels,
                         created_at, updated_at)
    select (lpad(to_hex(${app.clock.now().getTime()}::bigint), 12, '0') || '70009' || lpad(to_hex(n), 15, '0'))::uuid,
      ${organizationGuid}, 'sandbox', ${bankGuid}, ${customerGuid}, 'account', 'funded',
      case when n < ${ACCOUNTS} then '{"type": "fiat", "asset": "ZZ", "balance": 1}'::jsonb
        else '{"type": "fiat", "asset": "A1", "balance": 1}' end,
      '{}', now(), now()
    from generate_series(1, ${ACCOUNTS}::int) as n`.execute(owner);
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
