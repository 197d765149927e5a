import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { openTestDatabase, queriesOfOwner } from '../../../../testing/database/database.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';
import { guidOf } from '../../../../testing/webhooks/deliveries.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { completeDeliveries, completeTakenOver, failDeliveries } from '../recording/record-store.ts';
import { lockBatches, named } from './batch-store.ts';
import { releaseAll } from './lease-store.ts';
import { createOrphans } from './orphans.ts';
import { insertDeliveries } from './queue-store.ts';

/** Two transactions interleaved at each point where they could deadlock (architecture, Locks). */
const { testDatabase, database, log } = await openTestDatabase({ connections: 10 });
const owner = queriesOfOwner(testDatabase);

const NOW = createFakeClock().now();
const SUBSCRIPTION = '5'.repeat(32);
const [HOLDER, OTHER] = ['a'.repeat(32), 'b'.repeat(32)];
const BATCH = 'c'.repeat(32);

function newDelivery(): Delivery {
  const guid = guidOf(NOW);
  return {
    ...{ guid, subscriptionGuid: SUBSCRIPTION, organizationGuid: 'f'.repeat(32), environment: 'sandbox' },
    ...{ eventGuid: guid, bankGuid: null, eventType: 'transfer.completed', objectGuid: guid },
    ...{ attemptCount: 0, createdAt: NOW, isEarly: false },
  };
}

function outcomeOf(delivery: Delivery, result: Outcome['result']): Outcome {
  return {
    url: 'https://partner.example/hook',
    ...{ delivery, result, attemptedAt: NOW, endedAt: NOW, durationMs: 1, status: 200, excerpt: '' },
    ...{ reason: undefined, pausedUntil: undefined, nextAttemptAt: result === 'completed' ? undefined : NOW },
  };
}

/** Deliveries of a dispatcher: two in the queue and one in a batch. */
async function take(holder = HOLDER) {
  await sql`truncate delivery_queue, deliveries, delivery_batches, dispatchers, endpoint_notices`.execute(
    owner,
  );
  const [first, second, batched] = [newDelivery(), newDelivery(), newDelivery()];
  const batch = { guid: BATCH, left: 1 };
  await database.transaction((transaction) =>
    insertDeliveries(
      transaction,
      [
        { deliveries: [first, second], taken: 2, failed: false },
        { deliveries: [batched], taken: 1, batch, failed: false },
      ],
      { holder, at: NOW },
    ),
  );
  return { first, second };
}

const holders = async () =>
  (await database.queries.selectFrom('delivery_queue').select('leased_by').execute()).map(
    ({ leased_by }) => leased_by,
  );

async function waitUntilBlocked(): Promise<void> {
  await until(async () => (await lockWaits(database.queries)) > 0, 'a transaction that waits for a lock');
}

/** The statements of a recorder, with another transaction that starts between its two locks. */
async function recordAround(begin: () => Promise<unknown>): Promise<void> {
  const { first } = await take();
  let other: Promise<unknown> | undefined;
  await database.transaction(async (transaction) => {
    await lockBatches(transaction, named([BATCH]));
    other = begin();
    other.catch(() => undefined);
    await waitUntilBlocked();
    const own = await failDeliveries(transaction, HOLDER, [outcomeOf(first, 'rejected')]);
    assert.deepEqual([...own.keys()], [first.guid]);
  });
  await other;
  assert.deepEqual(await holders(), [null, null, null], 'everything is back in the queue');
}

test('a takeover and the recorder of the expired dispatcher do not deadlock', () =>
  recordAround(() => database.transaction((transaction) => releaseAll(transaction, [HOLDER]))));

test('the orphan sweep and a recorder do not deadlock', () =>
  recordAround(() => createOrphans({ database, log }).sweepOrphans()));

/** Both transactions have locked one row before either requests the other's. */
async function crosswise(
  one: readonly ((transaction: Transaction) => Promise<unknown>)[],
  two: readonly ((transaction: Transaction) => Promise<unknown>)[],
): Promise<void> {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = (steps: typeof one, done: () => void, wait: Promise<void>) =>
    database.transaction(async (transaction) => {
      await steps[0]?.(transaction);
      done();
      await wait;
      await steps[1]?.(transaction);
    });
  await Promise.all([run(one, first.resolve, second.promise), run(two, second.resolve, first.promise)]);
}

test('two recorders that write the same deliveries in opposite order do not deadlock', async () => {
  const { first, second } = await take();
  await crosswise(
    [
      (transaction) => failDeliveries(transaction, HOLDER, [outcomeOf(first, 'rejected')]),
      (transaction) => completeDeliveries(transaction, HOLDER, [outcomeOf(second, 'completed')]),
    ],
    [
      (transaction) => completeTakenOver(transaction, [outcomeOf(second, 'completed')]),
      (transaction) => completeTakenOver(transaction, [outcomeOf(first, 'completed')]),
    ],
  );
  const rows = await database.queries.selectFrom('delivery_queue').select('delivery_guid').execute();
  assert.deepEqual(
    rows.map(({ delivery_guid }) => delivery_guid),
    [first.guid],
    'the second is completed, the first waits for its next attempt',
  );
});

test('a takeover skips deliveries that a recorder is writing', async () => {
  const { first, second } = await take();
  await database.transaction(async (transaction) => {
    await failDeliveries(transaction, HOLDER, [outcomeOf(first, 'rejected')]);
    await database.transaction((other) => releaseAll(other, [HOLDER]));
    await completeDeliveries(transaction, OTHER, [outcomeOf(second, 'completed')]);
  });
  assert.deepEqual(await holders(), [null, null, null]);
});
