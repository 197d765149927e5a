import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueue, FIRST_GUID, HOLDER, later, NOW, type Place } from '../testing/queue.ts';
import { claimDeliveries, selectWaiting } from './queue-store.ts';

const { queries, nextSubscription, enqueue, claim, placesOf, leasedTo } = await createQueue();

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
