import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { fill, openTestDatabase } from '../../../../testing/database/database.ts';
import { createQueryCost } from '../../../../testing/database/query-cost.ts';
import { createPartitions } from '../../../infrastructure/database/partitions/partitions.ts';
import type { Horizon } from './position.ts';
import { selectSnapshot, selectStreamPage } from './stream-store.ts';

/** Polls and pages read what is new, however long the history and however busy other tenants are. */
const { testDatabase, database, log } = await openTestDatabase();
const cost = createQueryCost(testDatabase);
after(cost.close);

const clock = createFakeClock();
await createPartitions({ database, clock, log, retentionDays: 30, auditRetentionDays: 400 }).prepare();

const ROWS = 30_000;
const nowMs = clock.now().getTime();
const [own, other] = ['1'.repeat(32), '2'.repeat(32)] as const;
/** One event of each tenant per second, the last one now. */
for (const [index, organization] of [own, other].entries())
  await fill(
    database,
    sql`
    insert into events (guid, organization_guid, event_type, object_guid, environment, created_at)
    select (lpad(to_hex(${nowMs}::bigint - n * 1000), 12, '0') || '7000800' || ${index}::text || lpad(to_hex(n), 12, '0'))::uuid,
      ${organization}::uuid, 'trade.completed', ${organization}::uuid, 'sandbox', to_timestamp((${nowMs}::bigint - n * 1000) / 1000.0)
    from generate_series(0, ${ROWS}::int - 1) as n`,
  );
await sql`analyze events`.execute(database.queries).catch(() => undefined);

const tenant = { organizationGuid: own, environment: 'sandbox' as const };
const { snapshot, database: name } = await selectSnapshot(database.lists, [], undefined);
const horizon: Horizon = { snapshot, floorMs: nowMs - 30_000, database: name };

test('a poll without news reads the last seconds of its tenants', async () => {
  const blocks = await cost.blocksOf((queries) => selectSnapshot(queries, [tenant], horizon));
  assert.ok(blocks < 150, `${blocks} blocks`);
});

test('a page of the history reads its own rows', async () => {
  const from = { ...horizon, snapshot: '1:1:', floorMs: nowMs - 20_000_000 };
  const page = {
    organizationGuid: own,
    environments: ['sandbox'] as const,
    from,
    to: horizon,
    after: undefined,
  };
  const rows = await selectStreamPage(database.lists, page, 100);
  assert.equal(rows.length, 100);
  const blocks = await cost.blocksOf((queries) => selectStreamPage(queries, page, 100));
  assert.ok(blocks < 250, `${blocks} blocks`);
});
