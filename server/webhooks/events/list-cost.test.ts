import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { fill, openTestDatabase, queriesOfOwner } from '../../../testing/database/database.ts';
import { createQueryCost } from '../../../testing/database/query-cost.ts';
import { createGuids } from '../../infrastructure/runtime/guid.ts';
import { type DeliveryFilters, selectDeliveries } from '../deliveries/store.ts';
import { type EventFilters, selectEvents } from './store.ts';

/** The cost of a page of events or deliveries does not depend on how rare its rows are. */
const { testDatabase, database } = await openTestDatabase();
const cost = createQueryCost(testDatabase);
after(cost.close);

const clock = createFakeClock();
const now = clock.now();
const guids = createGuids({ clock, randomBytes });
const [organizationGuid, bankGuid, rareBank, object, subscriptionGuid] = Array.from(
  { length: 5 },
  guids.next,
) as [string, string, string, string, string];
const ROWS = 30_000;
const RARE = 5;
const MAX_BLOCKS_OF_FEW = 90;
const MAX_BLOCKS_OF_MANY = 600;

/** The oldest few have the rare type and the rare bank. */
const guid = sql`(lpad(to_hex(${now.getTime()}::bigint + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid`;
const type = sql`case when n <= ${RARE}::int then 'trade.failed' else 'trade.completed' end`;
const bank = sql`case when n <= ${RARE}::int then ${rareBank} else ${bankGuid} end::uuid`;
await fill(
  database,
  sql`
  insert into events (guid, organization_guid, bank_guid, event_type, object_guid, environment, created_at)
  select ${guid}, ${organizationGuid}::uuid, ${bank}, ${type}, ${object}::uuid, 'sandbox', ${now}
  from generate_series(1, ${ROWS}::int) as n`,
);
await fill(
  database,
  sql`
  insert into deliveries (guid, subscription_guid, organization_guid, environment, event_guid, bank_guid, event_type,
    object_guid, attempt_count, created_at, updated_at, completed_at)
  select ${guid}, ${subscriptionGuid}::uuid, ${organizationGuid}::uuid, 'sandbox', ${guid}, ${bank}, ${type},
    ${object}::uuid, 1, ${now}, ${now}, ${now}
  from generate_series(1, ${ROWS}::int) as n`,
);
/** The oldest few were completed an hour later; all of the other subscription, the newest three except. */
const [LATE, LATE_OF_OTHER] = [10, 2_500];
const HOUR_MS = 3_600_000;
const at = (ms: number) => new Date(now.getTime() + ms);
const otherSubscription = guids.next();
await sql`
  insert into deliveries (guid, subscription_guid, organization_guid, environment, event_guid, event_type,
    object_guid, attempt_count, created_at, updated_at, completed_at)
  select ${guid}, ${otherSubscription}::uuid, ${organizationGuid}::uuid, 'sandbox', ${guid}, 'trade.completed',
    ${object}::uuid, 1, ${now}, ${now}, ${now}
  from generate_series(1, ${LATE_OF_OTHER + 3}::int) as n`.execute(database.queries);
for (const [subscription, count] of [
  [subscriptionGuid, LATE],
  [otherSubscription, LATE_OF_OTHER],
] as const)
  await sql`
  update deliveries set completed_at = ${at(HOUR_MS)}
  where subscription_guid = ${subscription} and guid in (
    select guid from deliveries where subscription_guid = ${subscription} order by guid limit ${count})`.execute(
    database.queries,
  );
await sql`analyze events, deliveries`.execute(queriesOfOwner(testDatabase));

const PAGE = { number: 0, perPage: 20, offset: 0, after: undefined };
const FILTERS: Record<string, [filters: EventFilters, total: number]> = {
  'no filter': [{}, 10_000],
  'a rare type': [{ eventType: ['trade.failed'] }, RARE],
  'a rare and a common type': [{ eventType: ['trade.failed', 'trade.completed'] }, 10_000],
  'a type that there is not': [{ eventType: ['bank.updated'] }, 0],
  'a rare bank': [{ bankGuid: [rareBank] }, RARE],
  'a bank that there is not': [{ bankGuid: ['0'.repeat(32)] }, 0],
  'the other environment': [{ environment: ['production'] }, 0],
  'a time after all of them': [{ createdAtGte: new Date(now.getTime() + 8 * 86_400_000) }, 0],
};

for (const [name, [filters, total]] of Object.entries(FILTERS)) {
  const most = total === 10_000 ? MAX_BLOCKS_OF_MANY : MAX_BLOCKS_OF_FEW;

  test(`a page of events by ${name} and its total read few blocks`, async () => {
    const blocks = await cost.blocksOf(async (queries) => {
      const found = await selectEvents(queries, { organizationGuid }, PAGE, filters);
      assert.deepEqual([found.total, found.rows.length], [total, Math.min(20, total)]);
    });
    assert.ok(blocks <= most, `${blocks} blocks`);
  });

  test(`a page of deliveries by ${name} and its total read few blocks`, async () => {
    const owned = { visible: { organizationGuid }, subscriptionGuids: [subscriptionGuid] };
    if (filters.environment) return;
    const blocks = await cost.blocksOf((queries) =>
      queries.transaction().execute(async (transaction) => {
        const found = await selectDeliveries(transaction, owned, PAGE, filters, now);
        assert.deepEqual([found.total, found.rows.length], [total, Math.min(20, total)]);
      }),
    );
    assert.ok(blocks <= most, `${blocks} blocks`);
  });
}

const COMPLETIONS: Record<string, [filters: DeliveryFilters, total: number]> = {
  'any time': [{ completedAtGte: at(-HOUR_MS) }, 10_000],
  'the time of late completions': [{ completedAtGte: at(HOUR_MS), completedAtLt: at(2 * HOUR_MS) }, LATE],
  'the time of late completions with a type': [
    { completedAtGte: at(HOUR_MS), eventType: ['trade.failed'] },
    RARE,
  ],
  'the time of late completions with another state': [{ completedAtGte: at(HOUR_MS), state: ['failed'] }, 0],
  'a time before all of them': [{ completedAtLt: at(-HOUR_MS) }, 0],
  'a time after all of them': [{ completedAtGte: at(2 * HOUR_MS) }, 0],
};

for (const [name, [filters, total]] of Object.entries(COMPLETIONS))
  test(`a page of deliveries completed at ${name} and its total read few blocks`, async () => {
    const { rows, blocks } = await completions(subscriptionGuid, filters, total);
    assert.equal(rows.length, Math.min(20, total));
    assert.ok(blocks <= (total === 10_000 ? MAX_BLOCKS_OF_MANY : MAX_BLOCKS_OF_FEW), `${blocks} blocks`);
  });

test('many late completions are read in the order of their guids', async () => {
  const { rows, blocks } = await completions(
    otherSubscription,
    { completedAtGte: at(HOUR_MS) },
    LATE_OF_OTHER,
  );
  assert.deepEqual(
    rows.map((row) => Number.parseInt(row.guid.slice(-12), 16)),
    Array.from({ length: 20 }, (_, index) => LATE_OF_OTHER - index),
  );
  assert.ok(blocks <= MAX_BLOCKS_OF_MANY, `${blocks} blocks`);
});

async function completions(subscription: string, filters: DeliveryFilters, total: number) {
  const owned = { visible: { organizationGuid }, subscriptionGuids: [subscription] };
  let rows: { guid: string }[] = [];
  const blocks = await cost.blocksOf((queries) =>
    queries.transaction().execute(async (transaction) => {
      const found = await selectDeliveries(transaction, owned, PAGE, filters, now);
      assert.equal(found.total, total);
      rows = found.rows;
    }),
  );
  return { rows, blocks };
}
