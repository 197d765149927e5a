import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../../testing/app/app.ts';
import { userToken } from '../../../../../testing/app/tenant.ts';
import { deliveriesOf, guidOf, insertDeliveries } from '../../../../../testing/webhooks/deliveries.ts';
import { createSubscription } from '../../../../../testing/webhooks/subscriptions.ts';
import { createRedeliveryJobs, event, type Options, once } from '../../testing/redelivery-jobs.ts';

/** POST /api/subscription_recoveries: redelivery of failed deliveries in a window (contract, section 7). */
const app = await createTestApp();
const { clock, testDatabase } = app;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const { createOwner, post, recover, get, run, resent, ago } = createRedeliveryJobs(app);
const since = () => ago(DAY_MS).toISOString();

test('only failed deliveries in the window are redelivered', async () => {
  const { owner, subscription } = await createOwner();
  const other = await createSubscription(app, owner, { environment: 'production' });
  const from = ago(10 * HOUR_MS);
  const to = ago(5 * HOUR_MS);
  const before = (moment: Date) => new Date(moment.getTime() - 1);
  const failed: Options = { ended: 'failed', at: ago(HOUR_MS) };
  const known = await insertDeliveries(app, owner, subscription, [
    { ...failed, created_at: before(from), event_guid: event('too old') },
    { ...failed, created_at: from, event_guid: event('first') },
    { ...failed, created_at: ago(7 * HOUR_MS), event_guid: event('amid'), bank_guid: owner.bankGuid },
    { ...failed, created_at: before(to), event_guid: event('last') },
    { ...failed, created_at: to, event_guid: event('too new') },
    { ended: 'completed', created_at: ago(6 * HOUR_MS), event_guid: event('delivered') },
    { created_at: ago(6 * HOUR_MS), event_guid: event('waiting') },
  ]);
  const created_at = ago(6 * HOUR_MS);
  const others = await insertDeliveries(app, owner, other, [{ ...failed, created_at }]);
  const redelivery = await recover(owner, subscription, {
    since: from.toISOString(),
    until: to.toISOString(),
  });
  const now = clock.now().toISOString();
  assert.deepEqual(redelivery, {
    guid: redelivery.guid,
    subscription_guid: subscription.guid,
    environment: 'sandbox',
    since: from.toISOString(),
    until: to.toISOString(),
    kind: 'failed',
    state: 'running',
    total: 3,
    done: 0,
    redelivered: 0,
    actor_type: 'user',
    actor: 'f'.repeat(32),
    created_at: now,
    updated_at: now,
  });
  assert.deepEqual(await resent(subscription, known), {}, 'creating it sends nothing yet');

  clock.advance(1_000);
  await run();
  assert.deepEqual(await resent(subscription, known), once('first', 'amid', 'last'));
  assert.deepEqual(Object.keys(await resent(other, others)).length, 1, 'but for the creation of the other');
  const completed_at = clock.now().toISOString();
  const ended = { state: 'completed', done: 3, redelivered: 3, updated_at: completed_at, completed_at };
  assert.deepEqual(await get(owner, redelivery), { ...redelivery, ...ended });

  const made = (await deliveriesOf(app, subscription)).find(
    ({ guid, event_guid }) => !known.includes(guid) && event_guid === event('amid'),
  );
  const original = (await deliveriesOf(app, subscription)).find(({ guid }) => guid === known[2]);
  for (const field of ['organization_guid', 'environment', 'bank_guid', 'event_type', 'object_guid'] as const)
    assert.equal(made?.[field], original?.[field], field);
  const queued = app.database.queries.selectFrom('delivery_queue').selectAll();
  assert.ok(
    await queued.where('delivery_guid', '=', String(made?.guid)).executeTakeFirst(),
    'it is to be sent',
  );
});

test('an event gets at most one new delivery', async () => {
  const { owner, subscription } = await createOwner();
  const failed = (name: string, hours: number): Options => ({
    ...{ ended: 'failed', at: ago(HOUR_MS), created_at: ago(hours * HOUR_MS), event_guid: event(name) },
  });
  const known = await insertDeliveries(app, owner, subscription, [
    failed('resent and waits', 9),
    { created_at: ago(2 * HOUR_MS), event_guid: event('resent and waits') },
    failed('resent and came', 9),
    { ended: 'completed', created_at: ago(HOUR_MS), event_guid: event('resent and came') },
    failed('came, then not', 9),
    failed('three times', 9),
    failed('three times', 8),
    failed('three times', 7),
    failed('again, outside', 9),
    failed('again, outside', 3),
  ]);
  const redelivery = await recover(owner, subscription, { until: ago(4 * HOUR_MS).toISOString() });
  assert.equal(redelivery.total, 7);
  await run();
  assert.deepEqual(
    await resent(subscription, known),
    once('came, then not', 'three times', 'again, outside'),
  );
  const { state, total, done, redelivered } = await get(owner, redelivery);
  assert.deepEqual([state, total, done, redelivered], ['completed', 7, 7, 3]);

  const second = await recover(owner, subscription);
  await run();
  assert.deepEqual(
    await resent(subscription, known),
    once('came, then not', 'three times', 'again, outside'),
    'a second redelivery finds all of it resent',
  );
  const { done: processed, redelivered: none } = await get(owner, second);
  assert.deepEqual([processed, none], [8, 0], 'it says so');
});

test('redeliveries of one subscription run sequentially', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 700 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  const known = await insertDeliveries(app, owner, subscription, deliveries);
  const twin = await createTestApp({ testDatabase, clock });
  await recover(owner, subscription);
  await recover(owner, subscription);
  for (let round = 0; round < 4; round++)
    await Promise.all([app.redeliveries.step(), twin.redeliveries.step()]);
  await run();
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [700, 1]);
});

test('a subscription has at most 10 running redeliveries, even with concurrent requests', async () => {
  const { owner, subscription } = await createOwner();
  const ask = () => post(owner, { subscription_guid: subscription.guid, since: since() });
  const answers = await Promise.all(Array.from({ length: 14 }, ask));
  assert.equal(answers.filter(({ status }) => status === 201).length, 10);
  for (const refused of answers.filter(({ status }) => status !== 201))
    assertError(refused, 422, 'recovery_limit_reached', /reached \(10\)/);
  await run();
  assert.equal((await ask()).status, 201);
});

test('deliveries that fail after the redelivery was created are not included', async () => {
  const { owner, subscription } = await createOwner();
  const known = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', created_at: ago(HOUR_MS), event_guid: event('before') },
    { created_at: ago(HOUR_MS), event_guid: event('after') },
  ]);
  const redelivery = await recover(owner, subscription);
  clock.advance(1);
  const fail = app.database.queries.updateTable('deliveries').set({ failed_at: clock.now() });
  await fail.where('guid', '=', String(known[1])).execute();
  await run();
  assert.deepEqual(await resent(subscription, known), once('before'));
  assert.equal((await get(owner, redelivery)).done, 1);
});

test('1,200 deliveries are redelivered in batches of 500, across a restart', async () => {
  const { owner, subscription } = await createOwner();
  const known: string[] = [];
  for (const days of [6, 3, 0])
    known.push(
      ...(await insertDeliveries(
        app,
        owner,
        subscription,
        Array.from({ length: 400 }, (): Options => ({ ended: 'failed', created_at: ago(days * DAY_MS + 1) })),
      )),
    );
  const redelivery = await recover(owner, subscription, { since: ago(7 * DAY_MS).toISOString() });
  assert.equal(redelivery.total, 1_200);
  assert.equal(await app.redeliveries.step(), true);
  assert.equal((await get(owner, redelivery)).done, 500);
  const restarted = await createTestApp({ testDatabase, clock });
  await run(restarted);
  const { state, done } = await get(owner, redelivery);
  assert.deepEqual([state, done], ['completed', 1_200]);
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [1_200, 1]);
});

test('two nodes at once: each failed delivery gets exactly one new delivery', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 3_000 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  const known = await insertDeliveries(app, owner, subscription, deliveries);
  const redelivery = await recover(owner, subscription);
  const twin = await createTestApp({ testDatabase, clock });
  for (let round = 0; round < 20; round++) {
    clock.advance(1_000);
    await Promise.all([app, twin, app, twin].map((node) => node.redeliveries.step()));
  }
  const { state, total, done } = await get(owner, redelivery);
  assert.deepEqual([state, total, done], ['completed', 3_000, 3_000]);
  const counts = Object.values(await resent(subscription, known));
  assert.deepEqual([counts.length, Math.max(...counts)], [3_000, 1]);
});

test('a redelivery locked by another node is skipped and continued later', async () => {
  const { owner, subscription } = await createOwner();
  const known = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', event_guid: event('x') },
  ]);
  clock.advance(1);
  const redelivery = await recover(owner, subscription);
  await app.database.transaction(async (transaction) => {
    // Another transaction holds the lock.
    const held = transaction.selectFrom('subscription_recoveries').selectAll();
    await held.where('guid', '=', String(redelivery.guid)).forUpdate().execute();
    assert.equal(await app.redeliveries.step(), false);
  });
  assert.equal((await get(owner, redelivery)).state, 'running');
  assert.deepEqual(await resent(subscription, known), {});
  await run();
  assert.deepEqual(await resent(subscription, known), once('x'));
});

test('a redelivery pauses while more than 5,000 deliveries wait; others continue', async () => {
  const { owner, subscription } = await createOwner();
  const [known] = await insertDeliveries(app, owner, subscription, [
    { ended: 'failed', event_guid: event('x'), created_at: ago(1) },
  ]);
  const queue = Array.from({ length: 5_001 }, () => ({
    ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(clock.now()) },
    ...{ due_at: clock.now(), scheduled_at: clock.now(), leased_by: null },
  }));
  await app.database.queries.insertInto('delivery_queue').values(queue).execute();
  const redelivery = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), false);
  assert.equal((await get(owner, redelivery)).state, 'running');

  const next = await createOwner();
  const others = await recover(next.owner, next.subscription);
  await run();
  assert.equal((await get(next.owner, others)).state, 'completed');
  assert.equal((await get(owner, redelivery)).state, 'running');

  const one = app.database.queries.deleteFrom('delivery_queue');
  await one.where('delivery_guid', '=', String(queue[0]?.delivery_guid)).execute();
  await run();
  assert.equal((await get(owner, redelivery)).state, 'completed');
  assert.deepEqual(await resent(subscription, [String(known)]), once('x'));
});

test('a redelivery fails when its subscription stops delivering', async () => {
  const { owner, subscription } = await createOwner();
  const deliveries = Array.from(
    { length: 600 },
    (): Options => ({ ended: 'failed', created_at: ago(HOUR_MS) }),
  );
  await insertDeliveries(app, owner, subscription, deliveries);
  const redelivery = await recover(owner, subscription);
  assert.equal(await app.redeliveries.step(), true);
  await app.operate('PATCH', `/subscriptions/${subscription.guid}`, { disabled: true });
  app.clock.advance(1_000);
  await run();
  const { state, total, done, failed_at } = await get(owner, redelivery);
  assert.deepEqual([state, total, done], ['failed', 600, 500]);
  assert.equal(failed_at, clock.now().toISOString());
});

test('redeliveries that ended before the retention are deleted, and no others', async () => {
  const { owner, subscription } = await createOwner();
  const ended = await recover(owner, subscription);
  await run();
  const running = await recover(owner, subscription);
  clock.advance(30 * DAY_MS);
  await app.redeliveries.sweep();
  assert.equal((await get(owner, ended)).state, 'completed', 'to the last moment');
  clock.advance(1);
  assert.ok((await app.redeliveries.sweep()) >= 1);
  const token = await userToken(app, owner.organizationGuid);
  assertError(await app.call({ url: `/api/subscription_recoveries/${ended.guid}`, token }), 404, 'not_found');
  assert.equal((await get(owner, running)).state, 'running');
});
