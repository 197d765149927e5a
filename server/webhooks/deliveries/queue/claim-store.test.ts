import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import { createQueue, HOLDER, later, NOW, type Place } from '../testing/queue.ts';
import { claimDeliveries, selectWaiting } from './queue-store.ts';

const { queries, nextSubscription, enqueue, claim, placesOf, leasedTo } = await createQueue();
/** The `scheduled_at` of retries that a recovery does not make due. */
const INFINITY = 'infinity' as unknown as Date;

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
    expected.push({ subscriptionGuid, firstDueAt: first, firstScheduledAt: first > NOW ? NOW : null });
  }
  await enqueue(nextSubscription(), [{ leasedBy: HOLDER }]);

  const found = [];
  const sizes = [];
  for (let after = NIL_GUID; ; ) {
    const page = await selectWaiting(queries, { after, limit: 10, now: NOW });
    found.push(...page);
    sizes.push(page.length);
    if (page.length < 10) break;
    after = page.at(-1)?.subscriptionGuid ?? after;
  }
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(found, expected);
});

test('selectWaiting returns when the first retry was scheduled that a recovery makes due', async () => {
  await queries.deleteFrom('delivery_queue').execute();
  const [withRetries, without, withDue] = [nextSubscription(), nextSubscription(), nextSubscription()];
  const firstDueAt = later(60_000);
  const excluded = [
    { dueAt: firstDueAt, scheduledAt: INFINITY },
    { dueAt: firstDueAt, scheduledAt: later(-8_000), leasedBy: HOLDER },
  ];
  const retries = [later(-2_000), later(-3_000)].map((scheduledAt) => ({
    dueAt: later(90_000),
    scheduledAt,
  }));
  await enqueue(withRetries, [...excluded, ...retries]);
  await enqueue(without, excluded);
  await enqueue(withDue, [...retries, { dueAt: NOW }]);
  assert.deepEqual(await selectWaiting(queries, { after: NIL_GUID, limit: 10, now: NOW }), [
    { subscriptionGuid: withRetries, firstDueAt, firstScheduledAt: later(-3_000) },
    { subscriptionGuid: without, firstDueAt, firstScheduledAt: null },
    { subscriptionGuid: withDue, firstDueAt: NOW, firstScheduledAt: null },
  ]);
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

test('after a recovery, deliveries scheduled before it are due, later and excluded ones are not', async () => {
  const subscriptionGuid = nextSubscription();
  const recoveredAt = later(-1_000);
  const [second, first, , due] = await enqueue(subscriptionGuid, [
    { dueAt: later(600_000), scheduledAt: later(-1_001) },
    { dueAt: later(700_000), scheduledAt: later(-1_002) },
    { dueAt: later(500_000), scheduledAt: recoveredAt },
    { dueAt: later(-1), scheduledAt: later(-2_000) },
    { dueAt: later(400_000), scheduledAt: later(-999) },
    { dueAt: later(300_000), scheduledAt: INFINITY },
  ]);
  assert.deepEqual(await claim(subscriptionGuid, { limit: 0, recoveredAt }), []);
  assert.deepEqual(await claim(subscriptionGuid, { limit: 1, recoveredAt }), [due]);
  assert.deepEqual(await claim(subscriptionGuid, { limit: 1, recoveredAt }), [first]);
  assert.deepEqual(await claim(subscriptionGuid, { recoveredAt }), [second]);
  assert.deepEqual(await claim(subscriptionGuid, { recoveredAt }), []);
});

test('due deliveries and those that a recovery makes due share the limit, the due ones first', async () => {
  const subscriptionGuid = nextSubscription();
  const recoveredAt = later(-1_000);
  const early = { dueAt: later(600_000), scheduledAt: later(-5_000) };
  const guids = await enqueue(subscriptionGuid, [early, early, {}, {}]);
  const claims = [{ subscriptionGuid, limit: 3, recoveredAt }];
  const claimed = await claimDeliveries(queries, { claims, holder: HOLDER, now: NOW });
  assert.deepEqual(
    claimed.map(({ isEarly }) => isEarly),
    [false, false, true],
  );
  assert.deepEqual(new Set(claimed.slice(0, 2).map(({ guid }) => guid)), new Set(guids.slice(2)));
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
