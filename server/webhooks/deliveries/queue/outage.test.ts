import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import type { TestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../../testing/database/database.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { eventOf, publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription, founderOf } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  deliveryOf,
  guidsAt,
  metricOf,
  queueOf,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import { START_LIMIT } from './lanes/limit.ts';

/** Limit of requests in flight after one answer. */
const INITIAL_IN_FLIGHT = START_LIMIT + 1;

/** Outages of the database lose no outcome and leave nothing of a failed transaction. */
const HELD = 'portico_deliveries_held';
const RAISE = `raise exception 'refused for the test'`;
const BREAK = 'perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1)';

const app = await createDispatchingApp();
const { clock, dispatcher } = app;

const administrator = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL ?? '' });
await administrator.connect();
after(() => administrator.end());

/** Ends every connection to the app's database and refuses new ones until the returned function is called. */
async function takeDatabaseAway({ testDatabase }: TestApp): Promise<() => Promise<void>> {
  const name = new URL(testDatabase.url.reveal()).pathname.slice(1);
  const allow = (isAllowed: boolean) =>
    administrator.query(`alter database ${name} with allow_connections ${isAllowed}`);
  await allow(false);
  await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);
  return async () => void (await allow(true));
}

async function createEndpoint() {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: endpoint.url });
  await dispatcher.drain();
  return { tenant, endpoint, subscription };
}

/** The first statement on a closed connection fails, and the pool opens another. */
async function drainAgain(): Promise<void> {
  await until(async () => {
    clock.advance(1_000);
    await dispatcher.drain();
    return (await metricOf(app, HELD)) === 0;
  }, 'everything written down');
}

for (const outageMs of [0, 30_000]) {
  test(`outcomes are recorded after an outage of ${outageMs / 1_000} s`, async () => {
    const { tenant, endpoint, subscription } = await createEndpoint();
    const slow = hold();
    endpoint.behave(slow);
    const events = await publishEvents(app, tenant, INITIAL_IN_FLIGHT);
    await endpoint.waitForCount(1 + events.length);
    const bringBack = await takeDatabaseAway(app);
    slow.release({ status: 200, body: 'taken' });
    await until(async () => (await metricOf(app, 'portico_deliveries_in_flight')) === 0);
    for (let ms = 0; ms <= outageMs; ms += 5_000) {
      clock.advance(ms === 0 ? 0 : 5_000);
      await dispatcher.drain();
    }
    assert.equal(await metricOf(app, HELD), events.length, 'kept until they are written down');
    const answeredAt = clock.now().getTime() - outageMs;
    await bringBack();
    await drainAgain();
    for (const event of events) {
      const delivery = await deliveryOf(app, subscription, event);
      assert.equal(delivery.completed_at?.getTime(), answeredAt);
      assert.deepEqual([delivery.attempt_count, delivery.response_excerpt], [1, 'taken']);
    }
    assert.deepEqual(await queueOf(app, subscription), []);
    assert.equal(endpoint.received.length, 1 + events.length, 'nothing was sent twice');
  });
}

test('failures are recorded after an outage and retried on schedule', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const slow = hold();
  endpoint.behave(slow);
  const [event = ''] = await publishEvents(app, tenant);
  await endpoint.waitForCount(2);
  const failedAt = clock.now().getTime();
  const bringBack = await takeDatabaseAway(app);
  slow.release({ status: 500 });
  await until(async () => (await metricOf(app, 'portico_deliveries_in_flight')) === 0);
  await dispatcher.drain();
  await bringBack();
  endpoint.behave({ kind: 'answer' });
  await drainAgain();
  await until(async () => {
    clock.advance(1_000);
    await dispatcher.drain();
    return endpoint.received.length === 3 && (await metricOf(app, HELD)) === 0;
  }, 'the recorded retry');
  const { completed_at, attempt_count } = await deliveryOf(app, subscription, event);
  assert.equal(attempt_count, 2);
  assert.ok((completed_at?.getTime() ?? 0) >= failedAt + 2_000);
});

test('held deliveries are sent once after an expired lease is renewed', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const slow = hold();
  endpoint.behave(slow);
  const events = await publishEvents(app, tenant, 100);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  const bringBack = await takeDatabaseAway(app);
  // Shorter than the exchange timeout and longer than the lease.
  clock.advance(9_500);
  endpoint.behave({ kind: 'answer' });
  slow.release();
  await until(async () => (await metricOf(app, 'portico_deliveries_in_flight')) === 0);
  assert.equal(endpoint.received.length, 1 + INITIAL_IN_FLIGHT, 'others may have taken the rest');
  await bringBack();
  await drainAgain();
  assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('the dispatcher resumes by itself after an outage', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const bringBack = await takeDatabaseAway(app);
  await dispatcher.drain();
  clock.advance(60_000);
  await dispatcher.drain();
  await bringBack();
  await drainAgain();
  const events = await publishEvents(app, tenant, 10);
  await dispatcher.drain();
  assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
  assert.deepEqual(await queueOf(app, subscription), []);
});

test('deliveries of a release whose response was lost are sent once', async () => {
  const { tenant, endpoint, subscription } = await createEndpoint();
  const change = (changes: object) => founderOf(app, tenant)('PATCH', `/${subscription.guid}`, changes);
  const slow = hold();
  endpoint.behave(slow);
  const events = await publishEvents(app, tenant, 30);
  await endpoint.waitForCount(1 + INITIAL_IN_FLIGHT);
  const leased = async () => (await queueOf(app, subscription)).filter((row) => row.leased_by !== null);
  const { transaction } = app.database;
  let isLost = false;
  const transactions = mock.method(app.database, 'transaction', async (work: never) => {
    const result = await transaction(work);
    const isReleased = (await queueOf(app, subscription)).some(({ leased_by }) => leased_by === null);
    if (isLost || !isReleased) return result;
    isLost = true;
    throw new Error('the response was lost');
  });
  assert.equal((await change({ paused: true })).status, 200);
  await until(() => isLost, 'the release');
  transactions.mock.restore();
  assert.equal((await change({ paused: false })).status, 200);
  await dispatcher.poll();
  const claimed = (await leased()).length;
  assert.ok(claimed > 0, 'claimed again');
  for (let ms = 0; ms < 2_000; ms += 500) {
    clock.advance(500);
    await dispatcher.poll();
  }
  assert.equal((await leased()).length, claimed, 'this process holds them');
  endpoint.behave({ kind: 'answer' });
  slow.release();
  await drainAgain();
  assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
});

const REFUSALS = {
  'refuses its deliveries': { timing: '', deed: RAISE },
  'refuses the commit': { timing: 'deferrable initially deferred', deed: RAISE },
  'breaks the connection before the commit': { timing: '', deed: BREAK },
  'breaks the connection at the commit': { timing: 'deferrable initially deferred', deed: BREAK },
};

for (const [what, { timing, deed }] of Object.entries(REFUSALS))
  test(`when the database ${what}, nothing of the event is held, sent or stored`, async () => {
    const { tenant, endpoint, subscription } = await createEndpoint();
    const before = (await deliveriesOf(app, subscription)).length;
    const queries = queriesOfOwner(app.testDatabase);
    await sql`create function refuse() returns trigger language plpgsql as ${sql.lit(
      `begin ${deed}; return null; end`,
    )}`.execute(queries);
    await sql`create constraint trigger refuse after insert on delivery_batches ${sql.raw(timing)}
      for each row execute function refuse()`.execute(queries);
    const { status } = await app.operate('POST', '/events', {
      events: Array.from({ length: 20 }, () => eventOf(app, tenant)),
    });
    assert.ok(status >= 500, `${status}`);
    assert.equal(await metricOf(app, HELD), 0);
    await sql`drop function refuse() cascade`.execute(queries);
    await dispatcher.drain();
    assert.equal(endpoint.received.length, 1);
    assert.equal((await deliveriesOf(app, subscription)).length, before);
    assert.deepEqual(await queueOf(app, subscription), []);

    const events = await publishEvents(app, tenant, 20);
    await dispatcher.drain();
    assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.toSorted());
    assert.equal(await metricOf(app, HELD), 0);
  });
