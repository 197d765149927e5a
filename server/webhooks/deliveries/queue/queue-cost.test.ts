import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { fill, openTestDatabase, queriesOfOwner } from '../../../../testing/database/database.ts';
import { explain } from '../../../../testing/database/explain.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import { claimFirst, endHolds, selectWithoutFirst } from './first-store.ts';
import { claimDeliveries, selectWaiting } from './queue-store.ts';

/** The cost of the queue statements does not depend on the length of the queue. */
const { testDatabase, database } = await openTestDatabase();
const { queries } = database;
const owner = queriesOfOwner(testDatabase);

const NOW = createFakeClock().now();
const HOLDER = 'a'.repeat(32);
const FEW = 100;
/** A statement that reads each waiting delivery touches more than three times the buffers that it needs for a few. */
const MANY = 20_000;

/**
 * A queue with `count` due deliveries of one subscription, one each of 200 others, and `count` retries of another: a
 * recovery at `NOW` makes none of them due, a later one every second.
 */
async function fillQueue(count: number) {
  await sql`truncate delivery_queue, deliveries`.execute(owner);
  const [big, retried] = ['5'.repeat(32), '6'.repeat(31).padEnd(32, '0')];
  const others = Array.from({ length: 200 }, (_, index) =>
    (index + 1).toString(16).repeat(16).padEnd(32, '0').slice(0, 32),
  );
  const guid = sql`(lpad(to_hex(${NOW.getTime()}::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid`;
  await fill(
    database,
    sql`
    with new_delivery as materialized (
      select ${guid} as guid, ${big}::uuid as subscription_guid, n from generate_series(1, ${count}::int) as n
      union all
      select ${guid}, s.guid, n from unnest(${others}::uuid[]) with ordinality as s(guid, position)
      cross join lateral (select 1000000 + position as n) as numbered
    ), recorded as (
      insert into deliveries (guid, organization_guid, environment, subscription_guid, event_guid, event_type,
                              object_guid, attempt_count, created_at, updated_at)
      select guid, ${'f'.repeat(32)}::uuid, 'sandbox', subscription_guid, guid, 'transfer.completed', guid, 0, ${NOW}, ${NOW}
      from new_delivery
    )
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at)
    select subscription_guid, guid, ${NOW}::timestamptz - n * interval '1 ms', ${NOW} from new_delivery
    union all
    select ${retried}::uuid, ${guid}, ${NOW}::timestamptz + n * interval '1 ms',
           case when n % 2 = 0 then ${NOW}::timestamptz else 'infinity' end
    from generate_series(1, ${count}::int) as n`,
  );
  return { big, others, retried };
}

/** States of the planner statistics, which may be from any time. */
const STATISTICS = ['of now', 'of an empty queue', 'of a short queue'] as const;

async function gatherStatistics(when: (typeof STATISTICS)[number]): Promise<void> {
  await sql`truncate delivery_queue, deliveries`.execute(owner);
  if (when === 'of a short queue') await fillQueue(100);
  await sql`analyze delivery_queue, deliveries`.execute(owner);
}

type Queue = Awaited<ReturnType<typeof fillQueue>>;

/** A guid that is in no queue, which costs the most to look up. */
const ABSENT_GUID = 'e'.repeat(32);
const someOf = ({ big, others }: Queue) => [big, ...others.slice(0, 20)];
const firstsOf = (queue: Queue) =>
  someOf(queue).map((guid) => ({ subscriptionGuid: guid, deliveryGuid: ABSENT_GUID }));

const STATEMENTS: Record<string, (queries: Queries, queue: Queue) => Promise<unknown>> = {
  selectWaiting: (explained) => selectWaiting(explained, { after: NIL_GUID, limit: 500, now: NOW }),
  selectWithoutFirst: (explained, queue) => selectWithoutFirst(explained, firstsOf(queue)),
  claimFirst: (explained, queue) =>
    claimFirst(explained, { firsts: firstsOf(queue), holder: HOLDER, now: NOW }),
  claimDeliveries: (explained, queue) => claim(explained, someOf(queue), null),
  'claimDeliveries after a recovery with no early retries': (explained, { retried }) =>
    claim(explained, [retried], NOW),
  'claimDeliveries after a recovery': (explained, queue) =>
    claim(explained, [queue.retried, ...someOf(queue)], new Date(NOW.getTime() + 1)),
  'endHolds among other retries': (explained, { big }) =>
    endHolds(explained, big, { now: new Date(NOW.getTime() - MANY), limit: 50 }),
};

function claim(explained: Queries, guids: readonly string[], recoveredAt: Date | null) {
  const claims = guids.map((subscriptionGuid) => ({ subscriptionGuid, limit: 50, recoveredAt }));
  return claimDeliveries(explained, { claims, holder: HOLDER, now: NOW });
}

/** The cost of each statement with so many waiting deliveries. */
async function readCosts(statistics: (typeof STATISTICS)[number], count: number) {
  await gatherStatistics(statistics);
  const queue = await fillQueue(count);
  if (statistics === 'of now') await sql`analyze delivery_queue, deliveries`.execute(owner);
  const costs = new Map<string, Awaited<ReturnType<typeof explain>>>();
  for (const [name, run] of Object.entries(STATEMENTS))
    costs.set(
      name,
      await explain(queries, 'delivery_queue', async (explained) => {
        // As in the dispatcher: otherwise the plan depends on the statistics.
        await preferIndexes(explained as Transaction);
        return run(explained, queue);
      }),
    );
  return costs;
}

for (const statistics of STATISTICS)
  test(`with ${MANY} waiting the statements cost the same as with ${FEW}, statistics ${statistics}`, async () => {
    const small = await readCosts(statistics, FEW);
    for (const [name, { buffers, scans }] of await readCosts(statistics, MANY)) {
      assert.ok(scans.length > 0, name);
      // With a hundred rows a full scan may be the best plan.
      const whole = scans.filter((scan) => !/^(Index Scan|Index Only Scan|Tid Scan)$/.test(scan));
      assert.deepEqual(whole, [], `${name}: scans of ${MANY}, ${buffers} buffers`);
      const few = small.get(name)?.buffers ?? 0;
      assert.ok(buffers <= 3 * few, `${name}: ${few} buffers with ${FEW}, ${buffers} with ${MANY}`);
    }
  });

test('a claim is planned once, not for each execution, also if hardly anything is due', async () => {
  const { big } = await fillQueue(MANY);
  const now = new Date(NOW.getTime() - 60_000);
  const claims = [{ subscriptionGuid: big, limit: 50, recoveredAt: now }];
  await sql`analyze delivery_queue, deliveries`.execute(owner);
  const onOneConnection = async (connection: Queries) => {
    for (let execution = 0; execution < 10; execution += 1)
      await connection.transaction().execute(async (transaction) => {
        await preferIndexes(transaction as Transaction);
        await claimDeliveries(transaction, { claims, holder: HOLDER, now });
      });
    const { rows } = await sql<{ custom: number; generic: number }>`
      select custom_plans as custom, generic_plans as generic from pg_prepared_statements
      where name = 'claim_deliveries'`.execute(connection);
    // PostgreSQL plans the first five executions, to compare the costs.
    assert.deepEqual(rows, [{ custom: 5, generic: 5 }]);
  };
  await database.maintain((maintenance) => maintenance.connection().execute(onOneConnection));
});
