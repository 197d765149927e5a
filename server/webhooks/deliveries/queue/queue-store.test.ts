import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../../testing/database.ts';
import { guidOf } from '../../../../testing/deliveries.ts';
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import { createDatabase } from '../../../infrastructure/database/database.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import type { Delivery } from '../delivery.ts';
import {
  claimDeliveries,
  failWaiting,
  insertDeliveries,
  type NewDeliveries,
  releaseDeliveries,
  releaseUntrackedLeases,
  selectWaiting,
} from './queue-store.ts';

const testDatabase = await createTestDatabase();
const log = createLog({ level: 'silent', terminal: false });
const database = createDatabase({ url: testDatabase.url, connections: 10, log });
const { queries } = database;
after(async () => {
  await database.close();
  await testDatabase.drop();
});

const NOW = createFakeClock().now();
const FIRST_GUID = '0'.repeat(32);
const [HOLDER, OTHER] = ['a'.repeat(32), 'b'.repeat(32)];
const later = (ms: number) => new Date(NOW.getTime() + ms);

let made = 0;
/** No other subscription has a guid below or between these; later ones are greater. */
function nextSubscription(): string {
  made += 1;
  return made.toString(16).padStart(32, '0');
}

function deliveryOf(subscriptionGuid: string, fields: Partial<Delivery> = {}): Delivery {
  const guid = guidOf(NOW);
  return {
    ...{ guid, subscriptionGuid, organizationGuid: 'f'.repeat(32), environment: 'sandbox', eventGuid: guid },
    ...{ bankGuid: null, eventType: 'transfer.completed', objectGuid: guid, attemptCount: 0 },
    ...{ createdAt: NOW, isEarly: false, ...fields },
  };
}

const insert = (batches: readonly NewDeliveries[], holder: string | null = null) =>
  database.transaction((transaction) => insertDeliveries(transaction, batches, { holder, at: NOW }));

type Place = { dueAt?: Date; scheduledAt?: Date; leasedBy?: string | null };

/** Inserts deliveries with these queue rows; returns their guids. */
async function enqueue(subscriptionGuid: string, places: readonly Place[]): Promise<string[]> {
  const deliveries = places.map(() => deliveryOf(subscriptionGuid));
  await insert([{ deliveries, taken: 0, failed: false }]);
  for (const [index, { dueAt = NOW, scheduledAt = NOW, leasedBy = null }] of places.entries())
    await queries
      .updateTable('delivery_queue')
      .set({ due_at: dueAt, scheduled_at: scheduledAt, leased_by: leasedBy })
      .where('delivery_guid', '=', deliveries[index]?.guid ?? '')
      .execute();
  return deliveries.map(({ guid }) => guid);
}

const claim = async (
  subscriptionGuid: string,
  { limit = 100, recoveredAt = null as Date | null, holder = HOLDER, now = NOW } = {},
) => {
  const claims = [{ subscriptionGuid, limit, recoveredAt }];
  return (await claimDeliveries(queries, { claims, holder, now })).map(({ guid }) => guid);
};

const placesOf = (subscriptionGuid: string) =>
  queries
    .selectFrom('delivery_queue')
    .selectAll()
    .where('subscription_guid', '=', subscriptionGuid)
    .orderBy('delivery_guid')
    .execute();

const leasedTo = async (subscriptionGuid: string, holder: string | null) =>
  (await placesOf(subscriptionGuid))
    .filter(({ leased_by }) => leased_by === holder)
    .map(({ delivery_guid }) => delivery_guid);

test('inserted deliveries have queue rows; the taken ones are leased to their holder', async () => {
  const [first, second] = [nextSubscription(), nextSubscription()];
  const ofFirst = [deliveryOf(first, { bankGuid: '8'.repeat(32) }), deliveryOf(first), deliveryOf(first)];
  const ofSecond = [deliveryOf(second, { environment: 'production', organizationGuid: 'e'.repeat(32) })];
  await insert(
    [
      { deliveries: ofFirst, taken: 2, failed: false },
      { deliveries: ofSecond, taken: 0, failed: false },
    ],
    HOLDER,
  );
  const places = [...(await placesOf(first)), ...(await placesOf(second))];
  const all = [...ofFirst, ...ofSecond];
  assert.deepEqual(
    places.map((place) => [place.delivery_guid, place.due_at, place.scheduled_at, place.leased_by]),
    all.map(({ guid }, index) => [guid, NOW, NOW, index < 2 ? HOLDER : null]),
  );
  await releaseDeliveries(queries, HOLDER, ofFirst);
  const claims = [first, second].map((subscriptionGuid) => ({
    subscriptionGuid,
    limit: 9,
    recoveredAt: null,
  }));
  const claimed = await claimDeliveries(queries, { claims, holder: HOLDER, now: NOW });
  assert.deepEqual(
    claimed.toSorted((a, b) => (a.guid < b.guid ? -1 : 1)),
    all.map((delivery) => ({ ...delivery, isWatched: false })),
    'and comes back as it was',
  );
});

test('deliveries created as failed have no queue row', async () => {
  const subscriptionGuid = nextSubscription();
  const deliveries = [deliveryOf(subscriptionGuid), deliveryOf(subscriptionGuid)];
  await insert([{ deliveries, taken: 0, failed: true }], HOLDER);
  assert.deepEqual(await placesOf(subscriptionGuid), []);
  const rows = await queries
    .selectFrom('deliveries')
    .select(['guid', 'failed_at'])
    .where('subscription_guid', '=', subscriptionGuid)
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    rows,
    deliveries.map(({ guid }) => ({ guid, failed_at: NOW })),
  );
});

test('selectWaiting pages through all subscriptions, each once with its earliest due time', async () => {
  await queries.deleteFrom('delivery_queue').execute();
  const expected = [];
  for (let index = 0; index < 25; index++) {
    const subscriptionGuid = nextSubscription();
    const first = later(1_000 * ((index * 7) % 11));
    const leased = { dueAt: later(-9_000), leasedBy: HOLDER };
    await enqueue(subscriptionGuid, [
      leased,
      { dueAt: later(60_000) },
      { dueAt: first },
      { dueAt: later(90_000) },
    ]);
    expected.push({ subscriptionGuid, firstDueAt: first });
  }
  await enqueue(nextSubscription(), [{ leasedBy: HOLDER }]);

  const found = [];
  const sizes = [];
  for (let after = FIRST_GUID; ; ) {
    const page = await selectWaiting(queries, after, 10);
    found.push(...page);
    sizes.push(page.length);
    if (page.length < 10) break;
    after = page.at(-1)?.subscriptionGuid ?? after;
  }
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(found, expected);
});

test('a claim leases up to its limit, the longest due first', async () => {
  const subscriptionGuid = nextSubscription();
  const guids = await enqueue(
    subscriptionGuid,
    [-3, -9, -1, -7, -5].map((seconds) => ({ dueAt: later(seconds * 1_000) })),
  );
  const inOrder = [1, 3, 4, 0, 2].map((index) => guids[index]);
  assert.deepEqual(new Set(await claim(subscriptionGuid, { limit: 2 })), new Set(inOrder.slice(0, 2)));
  assert.deepEqual(new Set(await claim(subscriptionGuid, { limit: 2 })), new Set(inOrder.slice(2, 4)));
  assert.deepEqual(await claim(subscriptionGuid, { limit: 2 }), inOrder.slice(4));
  assert.deepEqual(await claim(subscriptionGuid), [], 'leased deliveries are not claimed');
  assert.equal((await leasedTo(subscriptionGuid, HOLDER)).length, 5);
});

test('a claim returns everything that an attempt needs', async () => {
  const subscriptionGuid = nextSubscription();
  const [guid = ''] = await enqueue(subscriptionGuid, [{}]);
  const claims = [{ subscriptionGuid, limit: 1, recoveredAt: null }];
  assert.deepEqual(await claimDeliveries(queries, { claims, holder: HOLDER, now: NOW }), [
    {
      ...{
        guid,
        subscriptionGuid,
        organizationGuid: 'f'.repeat(32),
        environment: 'sandbox',
        eventGuid: guid,
      },
      ...{
        bankGuid: null,
        eventType: 'transfer.completed',
        objectGuid: guid,
        attemptCount: 0,
        createdAt: NOW,
        isEarly: false,
        isWatched: false,
      },
    },
  ]);
});

test('a delivery can be claimed at its due time to the millisecond', async () => {
  const subscriptionGuid = nextSubscription();
  const [now, soon] = await enqueue(subscriptionGuid, [{ dueAt: NOW }, { dueAt: later(1) }]);
  assert.deepEqual(await claim(subscriptionGuid), [now]);
  assert.deepEqual(await claim(subscriptionGuid, { now: later(1) }), [soon]);
});

test('after a recovery, deliveries scheduled before it are due, later ones are not', async () => {
  const subscriptionGuid = nextSubscription();
  const recoveredAt = later(-1_000);
  const [before, , due] = await enqueue(subscriptionGuid, [
    { dueAt: later(600_000), scheduledAt: later(-1_001) },
    { dueAt: later(500_000), scheduledAt: recoveredAt },
    { dueAt: later(-1), scheduledAt: later(-500) },
    { dueAt: later(400_000), scheduledAt: later(-999) },
  ]);
  assert.deepEqual(await claim(subscriptionGuid, { limit: 0, recoveredAt }), []);
  assert.deepEqual(await claim(subscriptionGuid, { limit: 1, recoveredAt }), [due]);
  assert.deepEqual(await claim(subscriptionGuid, { recoveredAt }), [before]);
  assert.deepEqual(await claim(subscriptionGuid, { recoveredAt }), []);
});

test('one statement claims for several subscriptions, each with its own limit', async () => {
  const guids = [nextSubscription(), nextSubscription(), nextSubscription(), nextSubscription()];
  for (const guid of guids) await enqueue(guid, [{}, {}, {}]);
  const limits = [1, 2, 100];
  const claims = limits.map((limit, index) => ({
    subscriptionGuid: guids[index] ?? '',
    limit,
    recoveredAt: null,
  }));
  const claimed = await claimDeliveries(queries, { claims, holder: HOLDER, now: NOW });
  const counts = guids.map((guid) => claimed.filter((delivery) => delivery.subscriptionGuid === guid).length);
  assert.deepEqual(counts, [1, 2, 3, 0]);
});

test('queue rows without a delivery are deleted, and the others are claimed', async () => {
  const subscriptionGuid = nextSubscription();
  const [lost = '', kept = ''] = await enqueue(subscriptionGuid, [{}, {}]);
  await queries.deleteFrom('deliveries').where('guid', '=', lost).execute();
  assert.deepEqual(await claim(subscriptionGuid), [kept]);
  const left = await queries
    .selectFrom('delivery_queue')
    .select('delivery_guid')
    .where('subscription_guid', '=', subscriptionGuid)
    .execute();
  assert.deepEqual(left, [{ delivery_guid: kept }]);
});

test('concurrent claims never lease the same delivery and together lease all', async () => {
  const subscriptions = [nextSubscription(), nextSubscription()];
  const expected: string[] = [];
  for (const guid of subscriptions) expected.push(...(await enqueue(guid, new Array<Place>(150).fill({}))));
  const taken = new Map<string, string>();
  for (let round = 0; taken.size < expected.length && round < 100; round++) {
    const claims = subscriptions.map((subscriptionGuid) => ({
      subscriptionGuid,
      limit: 7,
      recoveredAt: null,
    }));
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const holder = index.toString(16).repeat(32);
        for (const { guid } of await claimDeliveries(queries, { claims, holder, now: NOW })) {
          assert.ok(!taken.has(guid), `${guid} was taken twice`);
          taken.set(guid, holder);
        }
      }),
    );
  }
  assert.deepEqual([...taken.keys()].sort(), expected.sort());
  const places = (await Promise.all(subscriptions.map(placesOf))).flat();
  for (const { delivery_guid, leased_by } of places) assert.equal(leased_by, taken.get(delivery_guid));
});

test('only the holder can release a delivery', async () => {
  const subscriptionGuid = nextSubscription();
  const guids = await enqueue(subscriptionGuid, [
    { leasedBy: HOLDER },
    { leasedBy: HOLDER },
    { leasedBy: OTHER },
  ]);
  const all = guids.map((guid) => ({ guid, subscriptionGuid }));
  await releaseDeliveries(queries, HOLDER, []);
  await releaseDeliveries(queries, HOLDER, [{ guid: guids[0] ?? '', subscriptionGuid: nextSubscription() }]);
  assert.equal((await leasedTo(subscriptionGuid, HOLDER)).length, 2);
  await releaseDeliveries(queries, HOLDER, all.slice(1));
  assert.deepEqual(await leasedTo(subscriptionGuid, null), [guids[1]]);
  assert.deepEqual(await leasedTo(subscriptionGuid, OTHER), [guids[2]]);
  await releaseDeliveries(queries, HOLDER, all);
  assert.deepEqual(await leasedTo(subscriptionGuid, null), guids.slice(0, 2));
});

test('untracked leases are released, held and recent ones stay', async () => {
  const subscriptionGuid = nextSubscription();
  const guids = await enqueue(subscriptionGuid, [
    { leasedBy: HOLDER, dueAt: later(-2) },
    { leasedBy: HOLDER, dueAt: later(-1) },
    { leasedBy: HOLDER, dueAt: NOW },
    { leasedBy: OTHER, dueAt: later(-2) },
  ]);
  await releaseUntrackedLeases(queries, HOLDER, { held: guids.slice(0, 1), takenBefore: NOW });
  assert.deepEqual(await leasedTo(subscriptionGuid, null), [guids[1]]);
  await releaseUntrackedLeases(queries, HOLDER, { held: [], takenBefore: later(1) });
  assert.deepEqual(await leasedTo(subscriptionGuid, null), guids.slice(0, 3));
});

test('an untracked early claim is released, too', async () => {
  const subscriptionGuid = nextSubscription();
  const guids = await enqueue(subscriptionGuid, [
    { leasedBy: HOLDER, dueAt: later(600_000), scheduledAt: later(-1) },
    { leasedBy: HOLDER, dueAt: later(600_000), scheduledAt: later(1) },
  ]);
  assert.equal(await releaseUntrackedLeases(queries, HOLDER, { held: [], takenBefore: NOW }), 1);
  assert.deepEqual(await leasedTo(subscriptionGuid, null), guids.slice(0, 1));
});

test('failWaiting fails waiting deliveries up to the limit and leaves leased ones', async () => {
  const subscriptionGuid = nextSubscription();
  const neighbour = nextSubscription();
  const guids = await enqueue(subscriptionGuid, [{}, { leasedBy: HOLDER }, { dueAt: later(60_000) }, {}]);
  await enqueue(neighbour, [{}]);
  const at = later(5);
  assert.equal(await failWaiting(queries, subscriptionGuid, { at, limit: 2 }), 2);
  assert.equal(await failWaiting(queries, subscriptionGuid, { at, limit: 2 }), 1);
  assert.equal(await failWaiting(queries, subscriptionGuid, { at, limit: 2 }), 0);
  assert.deepEqual(
    (await placesOf(subscriptionGuid)).map(({ delivery_guid }) => delivery_guid),
    [guids[1]],
  );
  const failed = await queries
    .selectFrom('deliveries')
    .select(['guid', 'failed_at', 'updated_at'])
    .where('subscription_guid', '=', subscriptionGuid)
    .where('failed_at', 'is not', null)
    .orderBy('guid')
    .execute();
  assert.deepEqual(
    failed,
    [guids[0], guids[2], guids[3]].map((guid) => ({ guid, failed_at: at, updated_at: at })),
  );
  assert.equal((await placesOf(neighbour)).length, 1);
});

test('concurrent failWaiting calls count each delivery once', async () => {
  const subscriptionGuid = nextSubscription();
  await enqueue(subscriptionGuid, new Array<Place>(60).fill({}));
  const counts = await Promise.all(
    Array.from({ length: 8 }, () => failWaiting(queries, subscriptionGuid, { at: NOW, limit: 20 })),
  );
  const rest = await failWaiting(queries, subscriptionGuid, { at: NOW, limit: 1_000 });
  assert.equal(
    counts.reduce((sum, count) => sum + count, rest),
    60,
  );
  assert.deepEqual(await placesOf(subscriptionGuid), []);
});
