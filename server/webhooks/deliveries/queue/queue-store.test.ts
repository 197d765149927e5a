import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createQueue, HOLDER, later, NOW, OTHER, type Place } from '../testing/queue.ts';
import { claimDeliveries, failWaiting, releaseDeliveries, releaseUntrackedLeases } from './queue-store.ts';

const { queries, nextSubscription, deliveryOf, insert, enqueue, placesOf, leasedTo } = await createQueue();

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

const provided = sql<boolean>`true`;

test('failWaiting fails waiting deliveries up to the limit and leaves leased ones', async () => {
  const subscriptionGuid = nextSubscription();
  const neighbour = nextSubscription();
  const guids = await enqueue(subscriptionGuid, [{}, { leasedBy: HOLDER }, { dueAt: later(60_000) }, {}]);
  await enqueue(neighbour, [{}]);
  const at = later(5);
  const fail = (after?: string) =>
    failWaiting(queries, subscriptionGuid, { at, limit: 2, provided, ...(after ? { after } : {}) });
  assert.deepEqual(await fail(), { failed: 2, reached: guids[2] });
  assert.deepEqual(await fail(guids[3]), { failed: 0, reached: undefined }, 'only later ones');
  assert.deepEqual(await fail(guids[2]), { failed: 1, reached: undefined });
  assert.deepEqual(await fail(), { failed: 0, reached: undefined });
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
    Array.from({ length: 8 }, () => failWaiting(queries, subscriptionGuid, { at: NOW, limit: 20, provided })),
  );
  const rest = await failWaiting(queries, subscriptionGuid, { at: NOW, limit: 1_000, provided });
  assert.equal(
    counts.reduce((sum, { failed }) => sum + failed, rest.failed),
    60,
  );
  assert.deepEqual(await placesOf(subscriptionGuid), []);
});
