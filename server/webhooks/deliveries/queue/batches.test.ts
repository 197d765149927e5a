import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../../testing/api/answers.ts';
import { createTenant, userToken } from '../../../../testing/app/tenant.ts';
import { deliveriesOf, guidOf, insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, queueOf } from '../../../../testing/webhooks/webhooks.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { completeBatched } from '../recording/record-store.ts';
import { lockBatches, named, requeueBatches } from './batch-store.ts';
import { START_LIMIT } from './lanes/limit.ts';
import { createOrphans } from './orphans.ts';

/** Limit of requests in flight after one answer. */
const INITIAL_IN_FLIGHT = START_LIMIT + 1;

/** Many deliveries at once are one batch instead of a queue row each. */
const MANY = 40;
const FEW = 3;
const MINUTE_MS = 60_000;

const app = await createDispatchingApp();
const { clock, dispatcher, database } = app;
const { queries } = database;
const { sweepOrphans } = createOrphans({ database, log: app.log });

async function createEndpoint() {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  return { tenant, endpoint, subscription };
}

const batchesOf = ({ guid }: { guid: string }) =>
  queries.selectFrom('delivery_batches').selectAll().where('subscription_guid', '=', guid).execute();

const completedOf = async (subscription: { guid: string }) =>
  (await deliveriesOf(app, subscription)).filter(({ completed_at }) => completed_at !== null).length;

/** Inserts a batch leased to `holder`. */
async function createBatch(
  { tenant, subscription }: Pick<Awaited<ReturnType<typeof createEndpoint>>, 'tenant' | 'subscription'>,
  holder: string,
  count = MANY,
) {
  const none = Array.from({ length: count }, () => ({}));
  const guids = await insertDeliveries(app, tenant, subscription, none);
  await queries.deleteFrom('delivery_queue').where('delivery_guid', 'in', guids).execute();
  const guid = guidOf(clock.now());
  const row = { guid, subscription_guid: subscription.guid, leased_by: holder, created_at: clock.now() };
  await queries
    .insertInto('delivery_batches')
    .values({ ...row, delivery_guids: guids })
    .execute();
  return { guid, guids };
}

test('many deliveries at once are one batch without queue rows, deleted with the last outcome', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const slow = hold();
  endpoint.behave(slow);
  await publishEvents(app, tenant, MANY);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  assert.equal((await batchesOf(subscription)).length, 1);
  assert.deepEqual(await queueOf(app, subscription), []);
  slow.release();
  endpoint.behave({ kind: 'answer' });
  await dispatcher.drain();
  assert.equal(await completedOf(subscription), 1 + MANY);
  assert.deepEqual(await batchesOf(subscription), []);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('a few deliveries have queue rows', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const slow = hold();
  endpoint.behave(slow);
  await publishEvents(app, tenant, FEW);
  await endpoint.waitForCount(1 + FEW);
  assert.deepEqual(await batchesOf(subscription), []);
  assert.equal((await queueOf(app, subscription)).length, FEW);
  slow.release();
  await dispatcher.drain();
});

test('failed batched deliveries get a queue row and are retried on schedule', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  let requests = 0;
  endpoint.behave(() => {
    requests += 1;
    return { kind: 'answer', status: requests % 4 === 0 ? 500 : 200 };
  });
  await publishEvents(app, tenant, MANY);
  await dispatcher.drain();
  const queued = await queueOf(app, subscription);
  assert.equal(queued.length, MANY / 4);
  assert.ok(queued.every(({ leased_by, due_at }) => leased_by === null && due_at > clock.now()));
  assert.deepEqual(await batchesOf(subscription), []);
  assert.equal(await completedOf(subscription), 1 + MANY - MANY / 4);
  endpoint.behave({ kind: 'answer' });
  clock.advance(3_000);
  await dispatcher.drain();
  assert.equal(await completedOf(subscription), 1 + MANY);
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('lists of waiting deliveries include batched ones once', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const slow = hold();
  const answers = ['fail', 'wait', 'wait'];
  endpoint.behave(() => (answers.shift() === 'fail' ? { kind: 'answer', status: 500 } : slow));
  await publishEvents(app, tenant, MANY);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  clock.advance(20);
  const token = await userToken(app, tenant.organizationGuid);
  const query = `subscription_guid=${subscription.guid}&per_page=100&state=storing,failing`;
  const list = async (more = '') =>
    objectsOf(await app.call({ url: `/api/subscription_deliveries?${query}${more}`, token }));
  const listed = await list();
  assert.equal(new Set(listed.map(({ guid }) => guid)).size, MANY);
  assert.equal(listed.length, MANY);
  assert.ok(listed.every(({ next_attempt_at }) => next_attempt_at !== null));
  const guids = listed.map(({ guid }) => String(guid));
  assert.deepEqual(guids, guids.toSorted().toReversed(), 'newest first');
  slow.release();
  endpoint.behave({ kind: 'answer' });
  clock.advance(5_000);
  await dispatcher.drain();
});

test('a batch unknown to its dispatcher is requeued after a minute and sent', async () => {
  const endpoint = await createEndpoint();
  const holder = dispatcher.holder() ?? '';
  await createBatch(endpoint, holder);
  const advance = async (ms: number) => {
    for (let left = ms; left > 0; left -= 2_000) {
      clock.advance(2_000);
      await dispatcher.drain();
    }
  };
  await advance(MINUTE_MS - 10_000);
  assert.equal(endpoint.endpoint.received.length, 1);
  await advance(2 * MINUTE_MS);
  assert.equal(await completedOf(endpoint.subscription), 1 + MANY);
  assert.deepEqual(await batchesOf(endpoint.subscription), []);
});

test('requeued deliveries stay leased if held, and are free otherwise', async () => {
  const endpoint = await createEndpoint();
  const holder = 'a'.repeat(32);
  const { guid, guids } = await createBatch(endpoint, holder);
  const held = guids.slice(0, 3);
  const count = await database.transaction((transaction) =>
    requeueBatches(transaction, named([guid]), { holder, held }),
  );
  assert.equal(count, MANY);
  const places = await queueOf(app, endpoint.subscription);
  assert.deepEqual(
    places
      .filter(({ leased_by }) => leased_by === holder)
      .map(({ delivery_guid }) => delivery_guid)
      .toSorted(),
    held.toSorted(),
  );
  assert.equal(places.filter(({ leased_by }) => leased_by === null).length, MANY - held.length);
  await queries.deleteFrom('delivery_queue').where('leased_by', '=', holder).execute();
  await dispatcher.drain();
});

test('a takeover does not requeue deliveries that are being recorded', async () => {
  const endpoint = await createEndpoint();
  const { guid, guids } = await createBatch(endpoint, 'a'.repeat(32));
  const [done = ''] = guids;
  let taken: Promise<number> | undefined;
  await database.transaction(async (transaction) => {
    await lockBatches(transaction, named([guid]));
    taken = database.transaction((other) => requeueBatches(other, named([guid])));
    await completeBatched(transaction, [outcomeOf(endpoint.subscription.guid, done)]);
  });
  assert.equal(await taken, MANY - 1);
  const places = await queueOf(app, endpoint.subscription);
  assert.ok(places.every(({ delivery_guid }) => delivery_guid !== done));
  await dispatcher.drain();
});

test('batches of a dead dispatcher are requeued by the sweep, those of a living one are not', async () => {
  const endpoint = await createEndpoint();
  const gone = await createBatch(endpoint, 'b'.repeat(32));
  const kept = await createBatch(endpoint, dispatcher.holder() ?? '', 1);
  assert.equal(await sweepOrphans(), MANY);
  assert.equal(await sweepOrphans(), 0);
  assert.deepEqual(
    (await batchesOf(endpoint.subscription)).map(({ guid }) => guid),
    [kept.guid],
  );
  await dispatcher.drain();
  const completed = new Set(
    (await deliveriesOf(app, endpoint.subscription))
      .filter(({ completed_at }) => completed_at !== null)
      .map(({ guid }) => guid),
  );
  assert.ok(gone.guids.every((guid) => completed.has(guid)));
  assert.ok(kept.guids.every((guid) => !completed.has(guid)));
});

function outcomeOf(subscriptionGuid: string, guid: string): Outcome {
  const at = clock.now();
  return {
    delivery: { guid, subscriptionGuid } as Delivery,
    url: 'https://partner.example/hook',
    result: 'completed',
    ...{ attemptedAt: at, endedAt: at, durationMs: 1, status: 200, excerpt: '' },
    ...{ reason: undefined, pausedUntil: undefined, nextAttemptAt: undefined },
  };
}
