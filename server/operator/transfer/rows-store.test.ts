import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Tenant } from '../../../testing/app/tenant.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { beginSnapshot, deleteRows, markAsTransfer } from './rows-store.ts';
import { TRANSFERRED, type TransferredTable } from './tables-store.ts';

const app = await createTestApp();
const { database, clock } = app;
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** The limits of these connections are those of requests, as behind a pooler. */
for (const [name, begin] of Object.entries({ export: beginSnapshot, import: markAsTransfer }))
  test(`the limits of the role do not apply to an ${name}`, async () => {
    const select = sql<{ setting: string }>`select setting from pg_settings where name = any(${LIMITS})`;
    const shown = await database.transaction(async (transaction) => {
      await begin(transaction);
      return select.execute(transaction);
    });
    assert.deepEqual(shown.rows, [{ setting: '0' }, { setting: '0' }]);
    const outside = await select.execute(database.queries);
    assert.deepEqual(outside.rows, [{ setting: '15000' }, { setting: '15000' }]);
  });

const DELIVERIES = TRANSFERRED.find(({ name }) => name === 'deliveries') as TransferredTable;
const BATCH_ROWS = 5;

/** Of the table and its primary key, in this transaction. */
async function blocksRead(transaction: Transaction): Promise<number> {
  const { rows } = await sql<{ blocks: string }>`
    select sum(pg_stat_get_xact_blocks_fetched(relid)) as blocks from (
      select relid from pg_partition_tree('deliveries') union all select relid from pg_partition_tree('deliveries_pkey')
    ) as relations`.execute(transaction);
  return Number(rows[0]?.blocks);
}

/** Nothing is committed, so no vacuum removes the index entries of deleted rows. */
async function blocksPerDeletedRow(tenant: Tenant, subscriptionGuid: string, count: number): Promise<number> {
  let blocks = 0;
  const undo = new Error('undo');
  const deletion = database.transaction(async (transaction) => {
    const time = clock.now().getTime();
    await sql`
      insert into deliveries (subscription_guid, guid, organization_guid, environment, event_guid, event_type, object_guid,
        attempt_count, created_at, updated_at)
      select ${subscriptionGuid}, (lpad(to_hex(${time}::bigint), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid,
        ${tenant.organizationGuid}, 'sandbox', gen_random_uuid(), 'bank.updated', ${tenant.bankGuid}, 1, now(), now()
      from generate_series(1, ${count}::integer) as n`.execute(transaction);
    // As in a large table.
    for (const kind of ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'])
      await sql`set local ${sql.id(`enable_${kind}`)} = off`.execute(transaction);
    const before = await blocksRead(transaction);
    let deleted = 0;
    const connections = { reading: transaction, deleting: transaction };
    for await (const each of deleteRows(connections, DELIVERIES, tenant.organizationGuid, BATCH_ROWS))
      deleted += each;
    assert.equal(deleted, count + 1, 'also the delivery of the first event');
    blocks = (await blocksRead(transaction)) - before;
    throw undo;
  });
  await assert.rejects(deletion, undo);
  return blocks / count;
}

test('the work to delete a row does not grow with the number of rows', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url: 'http://localhost:4999/' });
  const few = await blocksPerDeletedRow(tenant, guid, 100);
  const many = await blocksPerDeletedRow(tenant, guid, 1_000);
  assert.ok(many < 1.5 * few, `${many} blocks for each of many rows, ${few} for each of few`);
});
