import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../../testing/app/app.ts';
import { operator } from '../../../../../testing/app/cells.ts';
import { guidOf } from '../../../../../testing/webhooks/deliveries.ts';
import { isFailure } from '../../../../infrastructure/runtime/failure.ts';
import { createRedeliveryJobs } from '../../testing/redelivery-jobs.ts';

/** How often a node looks for redeliveries while none can advance. */
const app = await createTestApp();
const { clock, testDatabase } = app;
const CHECKED_PER_STEP = 20;

const { createOwner, recover, get, run } = createRedeliveryJobs(app);

test('without a running redelivery the database is queried once per second', async () => {
  const { owner, subscription } = await createOwner();
  await run();
  clock.advance(1_000);
  const idle = await createTestApp({ testDatabase, clock });
  assert.equal(await idle.redeliveries.step(), false);
  const elsewhere = await recover(owner, subscription);
  assert.equal(await idle.redeliveries.step(), false, 'it was made by another node');
  clock.advance(999);
  assert.equal(await idle.redeliveries.step(), false);
  clock.advance(1);
  assert.equal(await idle.redeliveries.step(), true);
  assert.equal((await get(owner, elsewhere)).state, 'completed');

  assert.equal(await app.redeliveries.step(), false);
  await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), true, 'it was made here');

  assert.equal(await idle.redeliveries.step(), false);
  await recover(owner, subscription);
  clock.set(new Date(clock.now().getTime() - 1));
  assert.equal(await idle.redeliveries.step(), true, 'also after the clock was set back');
});

test('while no redelivery can advance, the database is queried once per second', async () => {
  const { owner, subscription } = await createOwner();
  const queue = Array.from({ length: 5_001 }, () => ({
    ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(clock.now()) },
    ...{ due_at: clock.now(), scheduled_at: clock.now(), leased_by: null },
  }));
  const { queries } = app.database;
  await queries.insertInto('delivery_queue').values(queue).execute();
  const redelivery = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), false);
  await queries.deleteFrom('delivery_queue').where('subscription_guid', '=', subscription.guid).execute();
  clock.advance(999);
  assert.equal(await app.redeliveries.step(), false, 'it rests');
  clock.advance(1);
  assert.equal(await app.redeliveries.step(), true);
  assert.equal((await get(owner, redelivery)).state, 'completed');
});

test('after a step that did not check all redeliveries, the next one follows after 100 ms', async () => {
  const { owner, subscription } = await createOwner();
  const locked = Array.from({ length: CHECKED_PER_STEP }, () => guidOf(clock.now()));
  clock.advance(1);
  const redelivery = await recover(owner, subscription);
  const { queries } = app.database;
  const rows = queries.selectFrom('subscription_recoveries').selectAll();
  const row = await rows.where('guid', '=', String(redelivery.guid)).executeTakeFirstOrThrow();
  await queries
    .insertInto('subscription_recoveries')
    .values(locked.map((guid) => ({ ...row, guid, subscription_guid: guid })))
    .execute();
  const node = await createTestApp({ testDatabase, clock });
  await app.database.transaction(async (transaction) => {
    // As other nodes do that work on them.
    const held = transaction.selectFrom('subscription_recoveries').select('guid');
    await held.where('guid', 'in', locked).forUpdate().execute();
    assert.equal(await node.redeliveries.step(), false);
    clock.advance(99);
    assert.equal(await node.redeliveries.step(), false, 'it rests');
    clock.advance(1);
    assert.equal(await node.redeliveries.step(), true);
  });
  assert.equal((await get(owner, redelivery)).state, 'completed');
});

test('a redelivery of a frozen Organization rests until it is unfrozen', async () => {
  const { owner, subscription } = await createOwner();
  const redelivery = await recover(owner, subscription);
  assert.ok(!isFailure(await app.transfers.freeze(operator, owner.organizationGuid)));
  await run();
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, owner.organizationGuid)));
  assert.equal((await get(owner, redelivery)).state, 'running');
  await run();
  assert.equal((await get(owner, redelivery)).state, 'completed');
});
