import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import type { Delivery } from '../delivery.ts';
import { createQueue, HOLDER, OTHER } from '../testing/queue.ts';
import { createReleases } from './releases.ts';

const { database, nextSubscription, deliveryOf, insert, claim, leasedTo } = await createQueue();

type Failing = 'before the commit' | 'after the commit';

/** Releases whose first transaction fails. */
async function createFailing(failing: Failing) {
  const subscriptionGuid = nextSubscription();
  const delivery = deliveryOf(subscriptionGuid);
  await insert([{ deliveries: [delivery], taken: 1, failed: false }], HOLDER);
  let tried = 0;
  let hasFailed = false;
  let released = 0;
  let held: readonly Delivery[] = [];
  let holder = HOLDER;
  const transaction: Database['transaction'] = async (work) => {
    tried += 1;
    if (tried > 1) return database.transaction(work);
    if (failing === 'after the commit') await database.transaction(work);
    hasFailed = true;
    throw new Error('the connection is broken');
  };
  const releases = createReleases({
    database: { ...database, transaction },
    lanes: () => ({ heldGuidsOf: () => held.map(({ guid }) => guid) }),
    lease: { lastHolder: () => holder },
    onReleased: () => {
      released += 1;
    },
  });
  releases.requeue([delivery]);
  assert.deepEqual(releases.pendingGuids(), [delivery.guid]);
  // The commit is visible to others before its response arrives here.
  await until(() => hasFailed);
  assert.equal((await leasedTo(subscriptionGuid, null)).length, failing === 'after the commit' ? 1 : 0);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(released, 0);
  return {
    ...{ releases, subscriptionGuid, delivery },
    hold: () => {
      held = [delivery];
    },
    loseLease: () => {
      holder = OTHER;
    },
  };
}

test('a failed release is repeated; until then its deliveries are not untracked', async () => {
  const { releases, subscriptionGuid, delivery } = await createFailing('before the commit');
  assert.deepEqual(await leasedTo(subscriptionGuid, HOLDER), [delivery.guid]);
  assert.deepEqual(releases.pendingGuids(), [delivery.guid]);
  await releases.retry();
  assert.deepEqual(await leasedTo(subscriptionGuid, null), [delivery.guid]);
  assert.deepEqual(releases.pendingGuids(), []);
});

test('a repeated release leaves deliveries that this process has claimed since', async () => {
  const { releases, subscriptionGuid, delivery, hold } = await createFailing('after the commit');
  assert.deepEqual(await claim(subscriptionGuid), [delivery.guid]);
  hold();
  await releases.retry();
  assert.deepEqual(await leasedTo(subscriptionGuid, HOLDER), [delivery.guid]);
  assert.deepEqual(releases.pendingGuids(), []);
});

test('a release is not repeated under a lease that was acquired since', async () => {
  const { releases, subscriptionGuid, delivery, loseLease } = await createFailing('after the commit');
  loseLease();
  assert.deepEqual(await claim(subscriptionGuid, { holder: OTHER }), [delivery.guid]);
  await releases.retry();
  assert.deepEqual(await leasedTo(subscriptionGuid, OTHER), [delivery.guid]);
  assert.deepEqual(releases.pendingGuids(), []);
});
