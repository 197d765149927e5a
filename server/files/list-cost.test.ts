import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { createTestApp } from '../../testing/app/app.ts';
import { createTestDatabase, createTestPool, fill, queriesOfOwner } from '../../testing/database/database.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { createFileOwner } from '../../testing/objects/files.ts';
import type { Tables } from '../infrastructure/database/tables.ts';
import { claimFiles } from './processing/queue-store.ts';
import { type FileFilters, selectFiles } from './store.ts';

/** A page, and a claim of due files, reads only the rows it returns, whatever the size of the table. */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const owner = await createFileOwner(app);
const rareCustomer = await createCustomer(app, owner.bankGuid);
const FILES = 30_000;
/** Blocks of 8 KB; the whole table has over a thousand. */
const MAX_BLOCKS = 150;

/** All files belong to one customer and are completed, except for a few of the oldest. */
await fill(
  app.database,
  sql`
  insert into files (guid, organization_guid, bank_guid, customer_guid, environment, type, filename, content_type,
                     max_bytes, created_at, updated_at, completed_at, failed_at, next_look_at)
  select (lpad(to_hex(${app.clock.now().getTime()}::bigint + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
         ${owner.organizationGuid}::uuid, ${owner.bankGuid}::uuid,
         case when n <= 5 then ${rareCustomer} else ${owner.customerGuid} end::uuid, 'sandbox',
         case when n <= 5 then 'visa' else 'other' end, 'a file of a usual name.png', 'image/png', 1000,
         ${app.clock.now()}, ${app.clock.now()},
         case when n > 5 then ${app.clock.now()}::timestamptz end,
         case when n <= 3 then ${app.clock.now()}::timestamptz end,
         case when n in (4, 5) then ${app.clock.now()}::timestamptz end
  from generate_series(1, ${FILES}::int) as n`,
);
await sql`analyze files`.execute(queriesOfOwner(testDatabase));

const asked: CompiledQuery[] = [];
const pool = createTestPool(testDatabase.url, { max: 1 });
const queries = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool }),
  log: ({ query }) => void asked.push(query),
});
after(async () => {
  await queries.destroy();
  await testDatabase.drop();
});

/** The number of blocks that each statement of `work` reads. */
async function blocksOf(work: () => Promise<unknown>): Promise<number[]> {
  asked.length = 0;
  await work();
  const blocks: number[] = [];
  for (const { sql: text, parameters } of [...asked]) {
    const explained = await pool.query(`explain (analyze, buffers, format json) ${text}`, [...parameters]);
    const plan = explained.rows[0]['QUERY PLAN'][0].Plan;
    blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  }
  return blocks;
}

async function assertCheap(filters: FileFilters, after_: string | undefined): Promise<void> {
  const page = { number: 0, perPage: 20, offset: 0, after: after_ };
  const visible = { organizationGuid: owner.organizationGuid, environment: 'sandbox' as const };
  const [blocks = Number.NaN] = await blocksOf(() => selectFiles(queries, visible, page, filters));
  assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks for ${JSON.stringify(filters)} after ${after_}`);
}

const deep = async () => {
  const { rows } = await sql<{
    guid: string;
  }>`select guid::text from files order by guid offset 1000 limit 1`.execute(app.database.queries);
  return rows[0]?.guid.replaceAll('-', '');
};

const FILTERS: Record<string, FileFilters> = {
  none: {},
  'a customer of many files': { customerGuid: [owner.customerGuid] },
  'a customer of few files': { customerGuid: [rareCustomer] },
  'several customers': { customerGuid: [owner.customerGuid, rareCustomer] },
  'a rare type': { type: ['visa'] },
  'two types': { type: ['visa', 'other'] },
  'a bank': { bankGuid: [owner.bankGuid] },
  'failed (few files)': { state: ['failed'] },
  'storing (few files)': { state: ['storing'] },
  'all states': { state: ['failed', 'storing', 'completed'] },
};

for (const [name, filters] of Object.entries(FILTERS))
  test(`a page filtered by ${name} reads few blocks, at the start and deep in the list`, async () => {
    await assertCheap(filters, undefined);
    await assertCheap(filters, await deep());
  });

test('a claim reads only due files', async () => {
  const now = app.clock.now();
  const lease = { by: 'f'.repeat(32), until: new Date(now.getTime() + 1_000) };
  const claim = { now, lease, after: '0'.repeat(32), limit: 4 };
  for (const work of ['process', 'poll'] as const) {
    const [blocks = Number.NaN] = await blocksOf(() => claimFiles(queries, { ...claim, work }));
    assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks for ${work}`);
  }
});
