import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { fill, openTestDatabase, queriesOfOwner } from '../../../testing/database/database.ts';
import { createQueryCost } from '../../../testing/database/query-cost.ts';
import { createGuids } from '../../infrastructure/runtime/guid.ts';
import { selectCandidates } from './event-status/event-status-store.ts';
import { forceIndexOrder, selectDeliveries } from './store.ts';

/**
 * The cost of a list of failing deliveries does not depend on how many others wait or have ended; a list of new ones looks up
 * no delivery that waits for a retry.
 */
const { testDatabase, database } = await openTestDatabase();
const cost = createQueryCost(testDatabase);
after(cost.close);

const clock = createFakeClock();
const now = clock.now();
const before = new Date(now.getTime() - 60_000);
const guids = createGuids({ clock, randomBytes });
const [organizationGuid, object, waiting, mixed, retried, dead] = Array.from({ length: 6 }, guids.next) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const ROWS = 20_000;
const FEW = 5;
const MAX_BLOCKS = 150;
/** The queue rows, in the order of their index; a look-up of each delivery is three blocks more. */
const MAX_BLOCKS_OF_QUEUE = ROWS / 10;
const PAGE = { number: 0, perPage: 20, offset: 0, after: undefined };

const guid = sql`(lpad(to_hex(${now.getTime()}::bigint + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid`;
/** Of `mixed` the oldest few are failing and the others wait; of `retried` all but these were completed by a retry. Of `dead` the oldest few are new. */
const isFew = sql`n <= ${FEW}::int`;
for (const [subscription, failingSince, completedAt] of [
  [waiting, sql`null::timestamptz`, sql`null::timestamptz`],
  [mixed, sql`case when ${isFew} then ${before}::timestamptz end`, sql`null::timestamptz`],
  [retried, sql`${before}::timestamptz`, sql`case when not ${isFew} then ${now}::timestamptz end`],
  [dead, sql`case when not ${isFew} then ${before}::timestamptz end`, sql`null::timestamptz`],
] as const)
  await fill(
    database,
    sql`
    with added as (
      insert into deliveries (guid, subscription_guid, organization_guid, environment, event_guid, event_type, object_guid,
        attempt_count, created_at, updated_at, failing_since, completed_at, late_completed_at)
      select ${guid}, ${subscription}::uuid, ${organizationGuid}::uuid, 'sandbox', ${guid}, 'trade.completed',
        ${object}::uuid, 1, ${now}, ${now}, ${failingSince}, ${completedAt}, ${completedAt}
      from generate_series(1, ${ROWS}::int) as n
      returning subscription_guid, guid, completed_at, failing_since
    )
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at)
    select subscription_guid, guid, ${now}, coalesce(failing_since, ${now}) from added where completed_at is null`,
  );

const CASES: Record<string, [subscription: string, total: number]> = {
  'that there are none of, while many wait': [waiting, 0],
  'that are the oldest, while many wait': [mixed, FEW],
  'that are the oldest, while many were completed by a retry': [retried, FEW],
};

for (const analyzed of ['before', 'after'] as const) {
  if (analyzed === 'after')
    test('statistics', async () => {
      await sql`analyze deliveries, delivery_queue`.execute(queriesOfOwner(testDatabase));
    });

  for (const [name, [subscription, total]] of Object.entries(CASES)) {
    const owned = { visible: { organizationGuid }, subscriptionGuids: [subscription] };
    const filters = { state: ['failing'] as const };

    test(`a page of failing deliveries ${name}, reads few blocks, ${analyzed} statistics`, async () => {
      const blocks = await cost.blocksOf((queries) =>
        queries.transaction().execute(async (transaction) => {
          const found = await selectDeliveries(transaction, owned, PAGE, filters, now);
          assert.deepEqual([found.total, found.rows.length], [total, total]);
        }),
      );
      assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks`);
    });

    if (analyzed === 'before') continue;
    test(`events with failing deliveries ${name}, read few blocks`, async () => {
      const blocks = await cost.blocksOf((queries) =>
        queries.transaction().execute(async (transaction) => {
          await forceIndexOrder(transaction);
          const limits = { limit: 20, before: undefined, now };
          assert.equal((await selectCandidates(transaction, owned, filters, limits)).length, total);
        }),
      );
      assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks`);
    });
  }
}

test('a page of new deliveries, while many wait for a retry, looks up only these', async () => {
  const owned = { visible: { organizationGuid }, subscriptionGuids: [dead] };
  const blocks = await cost.blocksOf((queries) =>
    queries.transaction().execute(async (transaction) => {
      const found = await selectDeliveries(transaction, owned, PAGE, { state: ['storing'] }, now);
      assert.deepEqual([found.total, found.rows.length], [FEW, FEW]);
    }),
  );
  assert.ok(blocks <= MAX_BLOCKS_OF_QUEUE, `${blocks} blocks`);
});
