import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, eventTypesOf, founderOf } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, refusing } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  attemptsOf,
  createDispatchingApp,
  guidsAt,
  queueOf,
  showDelivery,
  subscriptionRow,
  typesAt,
} from '../../../../testing/webhooks/webhooks.ts';

const app = await createDispatchingApp();
const { clock, dispatcher } = app;
const tenant = await createTenant(app);
const healthy = await createTestEndpoint();
const other = await createSubscription(app, tenant, { url: healthy.url });
const subscription = await createSubscription(app, tenant, { url: await refusing() });

const DAY_MS = 24 * 3_600_000;
const CREATED_AT = clock.now().getTime();
const ENDS_AT = CREATED_AT + 7 * DAY_MS;
const sinceCreation = (moment: Date) => moment.getTime() - CREATED_AT;

/** The subscription receives only the event of its own creation until the end of the week. */
const [delivery] = await deliveriesOf(app, subscription);
assert.ok(delivery);
const shown = () => showDelivery(app, tenant, delivery.guid);
const dueAt = async () => (await queueOf(app, subscription))[0]?.due_at;

/**
 * Attempts before and after an outage of the dispatcher, together more than a delivery lists. In between, each time
 * depends only on the attempt before it; `schedule.test.ts` follows the schedule through all seven days.
 */
const ATTEMPTS_BEFORE_OUTAGE = 60;
const OUTAGE_ENDS_AT = new Date(ENDS_AT - 60 * 600_000);

const isSampled = (number: number) => number <= 10 || number % 50 === 0;

test('a delivery is retried for seven days at its announced times, then it fails', async () => {
  const moments: number[] = [];
  await dispatcher.drain();
  for (let next = await dueAt(); next; next = await dueAt()) {
    const number = moments.push(clock.now().getTime());
    assert.ok(next > clock.now() && next.getTime() <= ENDS_AT, `attempt ${number + 1} at ${next}`);
    if (isSampled(number)) {
      const view = await shown();
      assert.equal(view.next_attempt_at, next.toISOString());
      assert.equal(view.attempt_count, number);
      assert.equal(view.state, sinceCreation(clock.now()) < 10_000 ? 'storing' : 'failing');
      assert.equal(view.failed_at, undefined);
    }
    clock.set(new Date(next.getTime() - 1));
    if (isSampled(number)) {
      await dispatcher.drain();
      assert.equal((await shown()).attempt_count, number, 'not a millisecond before it is due');
    }
    clock.set(number === ATTEMPTS_BEFORE_OUTAGE ? OUTAGE_ENDS_AT : next);
    await dispatcher.drain();
  }
  moments.push(clock.now().getTime());

  const attempts = await attemptsOf(app, delivery);
  assert.deepEqual(
    attempts.map(({ attempted_at }) => attempted_at.getTime()),
    moments,
  );
  assert.ok(
    attempts.every(({ number, outcome }, index) => number === index + 1 && outcome === 'unreachable'),
  );

  const end = await shown();
  assert.equal(end.state, 'failed');
  assert.equal(end.failed_at, clock.now().toISOString());
  assert.equal(end.next_attempt_at, undefined);
  assert.equal(end.attempt_count, moments.length);
  assert.equal(end.attempts.length, 100);
  assert.equal(end.attempts.at(-1)?.number, moments.length);
});

test('attempts run at 0, 2, 6 and 14 seconds, then every ten minutes with 10 % jitter', async () => {
  const times = (await attemptsOf(app, delivery)).map(({ attempted_at }) => sinceCreation(attempted_at));
  assert.deepEqual(times.slice(0, 4), [0, 2_000, 6_000, 14_000]);
  const gaps = times
    .slice(4)
    .map((time, index) => time - (times[index + 3] ?? 0))
    .toSpliced(ATTEMPTS_BEFORE_OUTAGE - 4, 1);
  for (const gap of gaps) assert.ok(gap >= 540_000 && gap <= 660_000, `${gap} ms`);
  assert.ok(new Set(gaps).size > gaps.length / 2, 'scattered');
});

test('the last attempt is less than the maximum delay before the end of the seven days', async () => {
  const last = (await attemptsOf(app, delivery)).at(-1);
  assert.ok(last && last.attempted_at.getTime() > ENDS_AT - 660_000);
});

test('the subscription shows deliveries_failing_since and fails after seven days', async () => {
  const before = await subscriptionRow(app, subscription);
  assert.equal(before.deliveries_failing_since?.getTime(), CREATED_AT);
  clock.set(new Date(ENDS_AT - 1));
  await app.clusterTasks.runOnce();
  const founder = founderOf(app, tenant);
  assert.equal((await founder('GET', `/${subscription.guid}`)).body.state, 'storing');
  // A walk over the queue during which the clock jumps is followed by a pause.
  await dispatcher.drain();

  clock.set(new Date(ENDS_AT));
  await publishEvents(app, tenant);
  await app.clusterTasks.runOnce();
  const { body } = await founder('GET', `/${subscription.guid}`);
  assert.equal(body.state, 'failed');
  assert.equal(body.deliveries_failing_since, new Date(CREATED_AT).toISOString());
  assert.deepEqual(await eventTypesOf(app, subscription.guid), [
    'subscription.storing',
    'subscription.failed',
  ]);
});

test('subscription.failed is delivered to the other subscription only', async () => {
  await dispatcher.drain();
  assert.ok(typesAt(healthy).includes('subscription.failed'));
  const types = (await deliveriesOf(app, subscription)).map(({ event_type }) => event_type);
  assert.ok(!types.includes('subscription.failed'));
});

test('waiting deliveries of a failed subscription fail, and no new ones are created', async () => {
  await dispatcher.drain();
  const made = await deliveriesOf(app, subscription);
  assert.ok(made.every(({ failed_at }) => failed_at !== null));
  assert.deepEqual(await queueOf(app, subscription), []);
  const events = await publishEvents(app, tenant, 3);
  await dispatcher.drain();
  clock.advance(DAY_MS);
  await dispatcher.drain();
  assert.equal((await deliveriesOf(app, subscription)).length, made.length);
  assert.ok(events.every((guid) => guidsAt(healthy).includes(guid)));
  assert.equal(
    (await deliveriesOf(app, other)).every(({ completed_at }) => completed_at !== null),
    true,
  );
});
