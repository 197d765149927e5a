import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../../testing/app/app.ts';
import { deliveriesOf, guidOf, insertDeliveries } from '../../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../../testing/webhooks/events.ts';
import {
  createSubscription,
  founderOf,
  type SubscriptionBody,
} from '../../../../../testing/webhooks/subscriptions.ts';
import { queueOf } from '../../../../../testing/webhooks/webhooks.ts';
import { createRedeliveryJobs, event, type Options } from '../../testing/redelivery-jobs.ts';

/** Redelivery of waiting deliveries and of all events (`kind` of POST /api/subscription_recoveries). */
const app = await createTestApp();
const { clock, testDatabase } = app;
const { createOwner, post, recover, get, run, resent, ago } = createRedeliveryJobs(app);
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * MINUTE_MS);
/** Waits for its next attempt. */
const waiting = (name: string, options: Options = {}): Options => ({
  ...{ event_guid: event(name), attempt_count: 4, created_at: ago(HOUR_MS), dueAt: inMinutes(5) },
  ...options,
});

function setQueued(
  guid: string | undefined,
  changes: { scheduled_at?: Date | 'infinity'; leased_by?: string },
) {
  const update = app.database.queries.updateTable('delivery_queue').set(changes as { leased_by?: string });
  return update.where('delivery_guid', '=', String(guid)).execute();
}

/** Guids of the deliveries that are due. */
async function dueOf(subscription: SubscriptionBody): Promise<string[]> {
  const queued = await queueOf(app, subscription);
  return queued.filter(({ due_at: dueAt }) => dueAt <= clock.now()).map(({ delivery_guid: guid }) => guid);
}

test('waiting deliveries of the window are due at once; Retry-After and leases are honoured', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  const guids = await insertDeliveries(app, owner, subscription, [
    waiting('too old', { created_at: ago(3 * HOUR_MS) }),
    waiting('first'),
    waiting('asked to wait', { response_status: 429 }),
    waiting('early failed', { response_status: 500 }),
    waiting('being sent'),
    waiting('due already', { dueAt: ago(1) }),
    waiting('last'),
    waiting('too new', { created_at: ago(MINUTE_MS) }),
    { ended: 'failed', event_guid: event('failed'), created_at: ago(HOUR_MS) },
  ]);
  const [, first, paused, early, leased, due, last] = guids;
  await setQueued(paused, { scheduled_at: 'infinity' });
  await setQueued(early, { scheduled_at: 'infinity' });
  await setQueued(leased, { leased_by: guidOf(clock.now()) });
  const window = { since: ago(2 * HOUR_MS).toISOString(), until: ago(2 * MINUTE_MS).toISOString() };
  const job = await recover(owner, subscription, { kind: 'waiting', ...window });
  assert.deepEqual([job.kind, job.state, job.total], ['waiting', 'running', 7]);
  await run();
  assert.deepEqual((await dueOf(subscription)).toSorted(), [first, early, due, last].toSorted());
  assert.deepEqual(await resent(subscription, guids), {}, 'no new deliveries');
  const { state, total, done, redelivered } = await get(owner, job);
  assert.deepEqual([state, total, done, redelivered], ['completed', 6, 6, 3]);
});

test('1,200 waiting deliveries are made due in batches, across a restart', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  const rows = Array.from({ length: 1_200 }, (_, index) => waiting(`delivery ${index}`));
  await insertDeliveries(app, owner, subscription, rows);
  const job = await recover(owner, subscription, { kind: 'waiting' });
  assert.equal(await app.redeliveries.step(), true);
  assert.equal((await dueOf(subscription)).length, 500);
  const restarted = await createTestApp({ testDatabase, clock });
  await run(restarted, restarted);
  assert.equal((await dueOf(subscription)).length, 1_200);
  const { state, done, redelivered } = await get(owner, job);
  assert.deepEqual([state, done, redelivered], ['completed', 1_200, 1_200]);
  const again = await recover(owner, subscription, { kind: 'waiting' });
  await run();
  assert.equal((await get(owner, again)).redelivered, 0, 'all are due already');
});

test('deliveries that are not due do not make it pause, due ones do; a new endpoint never does', async () => {
  const queued = (subscription: SubscriptionBody, dueAt: Date) =>
    app.database.queries
      .insertInto('delivery_queue')
      .values(
        Array.from({ length: 5_001 }, () => ({
          ...{ subscription_guid: subscription.guid, delivery_guid: guidOf(ago(1)) },
          ...{ due_at: dueAt, scheduled_at: ago(1), leased_by: null },
        })),
      )
      .execute();
  const busy = await createOwner('sandbox', { active: true });
  const idle = await createOwner('sandbox', { active: true });
  const fresh = await createOwner();
  for (const { owner, subscription } of [busy, idle, fresh])
    await insertDeliveries(app, owner, subscription, [waiting('x')]);
  await queued(busy.subscription, ago(1));
  await queued(idle.subscription, inMinutes(5));
  await queued(fresh.subscription, ago(1));
  const jobs = [];
  for (const { owner, subscription } of [busy, idle, fresh])
    jobs.push(await recover(owner, subscription, { kind: 'waiting', until: ago(MINUTE_MS).toISOString() }));
  await run();
  const states = [];
  for (const [index, { owner }] of [busy, idle, fresh].entries())
    states.push((await get(owner, jobs[index] ?? {})).state);
  assert.deepEqual(states, ['running', 'completed', 'completed']);
  const { queries } = app.database;
  await queries.deleteFrom('delivery_queue').where('due_at', '<=', clock.now()).execute();
  await run();
});

test('all events are delivered again, except waiting ones and test events of others', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  const other = await createSubscription(app, owner, { active: true });
  const published: Record<string, string> = {};
  const publish = async (name: string) => {
    clock.advance(MINUTE_MS);
    [published[name] = ''] = await publishEvents(app, owner);
  };
  await publish('too old');
  clock.advance(MINUTE_MS);
  const since = clock.now();
  for (const name of ['delivered', 'failed', 'waiting', 'delivered twice']) await publish(name);
  await founderOf(app, owner)('POST', `/${other.guid}/test_event`);
  await founderOf(app, owner)('POST', `/${subscription.guid}/test_event`);
  clock.advance(MINUTE_MS);
  const until = clock.now();
  await publish('too new');
  const { queries } = app.database;
  const deliveries = await deliveriesOf(app, subscription);
  const end = async (name: string, changes: { completed_at?: Date; failed_at?: Date }) => {
    const own = deliveries.find(({ event_guid: guid }) => guid === published[name]);
    await queries.updateTable('deliveries').set(changes).where('guid', '=', String(own?.guid)).execute();
    await queries.deleteFrom('delivery_queue').where('delivery_guid', '=', String(own?.guid)).execute();
  };
  for (const name of ['too old', 'delivered', 'delivered twice', 'too new'])
    await end(name, { completed_at: until });
  await end('failed', { failed_at: until });
  const tested = deliveries.find(({ object_guid: guid }) => guid === subscription.guid);
  await queries
    .updateTable('deliveries')
    .set({ completed_at: until })
    .where('guid', '=', String(tested?.guid))
    .execute();

  const known = deliveries.map(({ guid }) => guid);
  const window = { since: since.toISOString(), until: until.toISOString() };
  const job = await recover(owner, subscription, { kind: 'all', ...window });
  assert.equal(job.total, 6);
  const before = deliveries.length;
  await run();
  const replayed = ['delivered', 'failed', 'delivered twice'].map((name) => published[name]);
  const expected = Object.fromEntries([...replayed, tested?.event_guid].map((guid) => [guid, 1]));
  assert.deepEqual(await resent(subscription, known), expected);
  const { state, total, done, redelivered } = await get(owner, job);
  assert.deepEqual([state, total, done, redelivered], ['completed', 6, 6, 4]);
  const original = deliveries.find(({ event_guid: guid }) => guid === published.delivered);
  const copy = (await deliveriesOf(app, subscription)).find(
    ({ guid, event_guid: of }) => !known.includes(guid) && of === published.delivered,
  );
  for (const field of ['event_type', 'object_guid', 'bank_guid', 'environment'] as const)
    assert.equal(copy?.[field], original?.[field], field);
  const twice = await recover(owner, subscription, { kind: 'all', ...window });
  await run();
  assert.equal((await deliveriesOf(app, subscription)).length, before + 4, 'they wait, and are skipped');
  assert.equal((await get(owner, twice)).redelivered, 0);
});

test('a new subscription gets the events from before its creation, each once, from two nodes', async () => {
  const { owner } = await createOwner();
  clock.advance(MINUTE_MS);
  const since = clock.now().toISOString();
  const events: string[] = [];
  for (let batch = 0; batch < 2; batch += 1) events.push(...(await publishEvents(app, owner, 650)));
  clock.advance(1_000);
  const subscription = await createSubscription(app, owner, { active: true });
  const known = (await deliveriesOf(app, subscription)).map(({ guid }) => guid);
  const job = await recover(owner, subscription, { kind: 'all', since });
  const twin = await createTestApp({ testDatabase, clock });
  for (let round = 0; round < 6; round += 1) {
    clock.advance(1_000);
    await Promise.all([app, twin, app, twin].map((node) => node.redeliveries.step()));
  }
  const { state, done, redelivered } = await get(owner, job);
  assert.deepEqual([state, done, redelivered], ['completed', 1_300, 1_300]);
  const counts = await resent(subscription, known);
  assert.deepEqual(Object.keys(counts).toSorted(), events.toSorted());
  assert.equal(Math.max(...Object.values(counts)), 1);
});

test('an event of the core is found by its creation, however old its guid is', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  clock.advance(2 * MINUTE_MS);
  const guid = guidOf(ago(6 * 24 * HOUR_MS));
  await publishEvents(app, owner, [{ guid }]);
  await app.database.queries
    .updateTable('deliveries')
    .set({ completed_at: clock.now() })
    .where('event_guid', '=', guid)
    .execute();
  clock.advance(1_000);
  const known = (await deliveriesOf(app, subscription)).map((delivery) => delivery.guid);
  await recover(owner, subscription, { kind: 'all', since: ago(MINUTE_MS).toISOString() });
  await run();
  assert.deepEqual(await resent(subscription, known), { [guid]: 1 });
});

test('a step reads at most 5,000 events; a total from 10,000 on is estimated by the counters', async () => {
  const { owner, subscription } = await createOwner('sandbox', { active: true });
  clock.advance(2 * HOUR_MS);
  const { queries } = app.database;
  const { organizationGuid: organization_guid } = owner;
  const insertEvents = async (count: number, created_at: Date) => {
    const rows = Array.from({ length: count }, () => ({
      ...{ guid: guidOf(created_at), organization_guid, bank_guid: null, created_at },
      ...{
        event_type: 'transfer.completed',
        object_guid: guidOf(created_at),
        environment: 'sandbox' as const,
      },
    }));
    for (let start = 0; start < rows.length; start += 5_000)
      await queries
        .insertInto('events')
        .values(rows.slice(start, start + 5_000))
        .execute();
  };
  await insertEvents(10_000, ago(HOUR_MS));
  await insertEvents(3, ago(MINUTE_MS));
  const recent = await recover(owner, subscription, { kind: 'all', since: ago(2 * MINUTE_MS).toISOString() });
  assert.equal(recent.total, 3);
  for (const redelivered of [0, 0, 3]) {
    assert.equal(await app.redeliveries.step(), true);
    assert.equal((await get(owner, recent)).redelivered, redelivered);
  }
  assert.equal((await get(owner, recent)).state, 'completed');

  const minute = new Date(Math.floor(ago(HOUR_MS).getTime() / MINUTE_MS) * MINUTE_MS);
  const counted = { organization_guid, environment: 'sandbox' as const, minute, events: 12_345 };
  await queries.insertInto('event_counters').values(counted).execute();
  const large = await recover(owner, subscription, { kind: 'all', since: '0000-01-01T00:00:00Z' });
  assert.ok(Number(large.total) >= 12_345, `${large.total} events`);
  await run();
  const { state, done } = await get(owner, large);
  assert.deepEqual([state, done], ['running', 5_000], 'it pauses while more than 5,000 deliveries wait');
  await queries.deleteFrom('delivery_queue').where('subscription_guid', '=', subscription.guid).execute();
  await run();
  await queries.deleteFrom('delivery_queue').where('subscription_guid', '=', subscription.guid).execute();
  await run();
  const ended = await get(owner, large);
  assert.deepEqual([ended.state, ended.total], ['completed', ended.done], 'exact in the end');
});

test('kind is validated, and failed by default', async () => {
  const { owner, subscription } = await createOwner();
  const ask = (kind: unknown) =>
    post(owner, { subscription_guid: subscription.guid, since: ago(HOUR_MS).toISOString(), kind });
  for (const kind of ['everything', '', 1, ['all']])
    assertError(await ask(kind), 400, 'invalid_parameter', /^kind\b/);
  assert.equal((await recover(owner, subscription)).kind, 'failed');
  await run();
});
