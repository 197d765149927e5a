import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { QueryExecutor } from 'kysely';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { nextGuid } from '../../../testing/objects/customers.ts';
import { eventOf, publishEvents } from '../../../testing/webhooks/events.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { createGuids } from '../../infrastructure/runtime/guid.ts';
import { createLog } from '../../infrastructure/runtime/log.ts';
import { createEventCounters } from './counters.ts';

const app = await createTestApp();
const { clock, eventCounters } = app;
const { queries } = app.database;

const countersOf = (organizationGuid: string) =>
  queries
    .selectFrom('event_counters')
    .select(['environment', 'minute', 'events'])
    .where('organization_guid', '=', organizationGuid)
    .orderBy('minute')
    .orderBy('environment')
    .execute();

/** A tenant without the events of its creation. */
async function createCountedTenant() {
  const tenant = await createTenant(app);
  await eventCounters.flush();
  await queries.deleteFrom('event_counters').execute();
  return tenant;
}

/** The start of a minute, so that the test does not cross into the next. */
function toNextMinute(): Date {
  clock.advance(60_000 - (clock.now().getTime() % 60_000));
  return clock.now();
}

test('events are counted per minute, Organization and environment', async () => {
  const tenant = await createCountedTenant();
  const other = await createTenant(app, { environment: 'production' });
  await eventCounters.flush();
  await queries.deleteFrom('event_counters').execute();
  const first = toNextMinute();
  await publishEvents(app, tenant, 3);
  clock.advance(59_999);
  await publishEvents(app, tenant, 2);
  await publishEvents(app, other, 4);
  clock.advance(1);
  await publishEvents(app, tenant, 1);
  await eventCounters.flush();
  const second = new Date(first.getTime() + 60_000);
  assert.deepEqual(await countersOf(tenant.organizationGuid), [
    { environment: 'sandbox', minute: first, events: 5 },
    { environment: 'sandbox', minute: second, events: 1 },
  ]);
  assert.deepEqual(await countersOf(other.organizationGuid), [
    { environment: 'production', minute: first, events: 4 },
  ]);
});

test('events of several Organizations in one call are counted for each', async () => {
  const [one, two] = [await createCountedTenant(), await createCountedTenant()];
  const events = [one, two, one, one, two].map((tenant) => eventOf(app, tenant));
  assert.equal((await app.operate('POST', '/events', { events })).status, 202);
  await eventCounters.flush();
  const sums = [one, two].map(
    async ({ organizationGuid }) => (await countersOf(organizationGuid))[0]?.events,
  );
  assert.deepEqual(await Promise.all(sums), [3, 2]);
});

test('existing and uncommitted events are not counted', async () => {
  const tenant = await createCountedTenant();
  const guid = nextGuid(app);
  await publishEvents(app, tenant, [{ guid, object_guid: guid }]);
  await publishEvents(app, tenant, [{ guid, object_guid: guid }]);
  const contrary = eventOf(app, tenant, { guid });
  const answer = await app.operate('POST', '/events', { events: [eventOf(app, tenant), contrary] });
  assertError(answer, 409, 'event_conflict');
  await eventCounters.flush();
  assert.deepEqual(
    (await countersOf(tenant.organizationGuid)).map(({ events }) => events),
    [1],
  );
});

test('counts are written within five seconds', async () => {
  const tenant = await createCountedTenant();
  await publishEvents(app, tenant, 2);
  assert.deepEqual(await countersOf(tenant.organizationGuid), []);
  clock.advance(5_000);
  await until(async () => (await countersOf(tenant.organizationGuid)).length === 1, 'the counts');
});

test('closing the app writes the remaining counts', async () => {
  const { testDatabase } = app;
  const closing = await createTestApp({ testDatabase, clock });
  const tenant = await createCountedTenant();
  await publishEvents(closing, tenant, 7);
  await closing.close();
  assert.deepEqual(
    (await countersOf(tenant.organizationGuid)).map(({ events }) => events),
    [7],
  );
});

/** Counters in virtual time on a database that a test can disconnect. */
function createHarness() {
  const time = createFakeClock();
  const logged: string[] = [];
  const log = createLog({
    level: 'warn',
    terminal: false,
    destination: { write: (line) => void logged.push(line) },
  });
  const state = { away: false, losesAnswer: false };
  const executing = new Proxy(queries, {
    get(target, property) {
      if (state.away && property === 'getExecutor') throw new Error('no connection');
      const value = Reflect.get(target, property, target);
      if (state.losesAnswer && property === 'getExecutor') return () => losingAnswer(target.getExecutor());
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const guids = createGuids({ clock: time, randomBytes });
  const counters = createEventCounters({ queries: executing, clock: time, timers: time, guids, log });
  const note = (organization_guid: string, minutes = 0) =>
    counters.note([
      {
        organization_guid,
        environment: 'sandbox',
        created_at: new Date(time.now().getTime() + minutes * 60_000),
      },
    ]);
  return { time, logged, state, counters, note };
}

/** Runs the statement, then breaks the connection. */
function losingAnswer(executor: QueryExecutor): QueryExecutor {
  return new Proxy(executor, {
    get(target, property) {
      const value = Reflect.get(target, property, target);
      if (property !== 'executeQuery') return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: Parameters<QueryExecutor['executeQuery']>) => {
        await target.executeQuery(...args);
        throw new Error('Connection terminated unexpectedly');
      };
    },
  });
}

test('a write whose response was lost is counted once', async () => {
  const { state, counters, note } = createHarness();
  const guid = nextGuid(app);
  state.losesAnswer = true;
  note(guid);
  await counters.flush();
  assert.equal((await countersOf(guid))[0]?.events, 1, 'it did happen');
  note(guid);
  await counters.flush();
  state.losesAnswer = false;
  await counters.flush();
  assert.equal((await countersOf(guid))[0]?.events, 2);
});

test('writers without a write for a day are deleted', async () => {
  const { time, counters, note } = createHarness();
  note(nextGuid(app));
  await counters.flush();
  assert.equal(await counters.sweep(), 0);
  time.advance(24 * 3_600_000 + 1);
  assert.ok((await counters.sweep()) >= 1);
  assert.equal(await counters.sweep(), 0);
});

test('counts that cannot be written are kept and written later', async () => {
  const { time, logged, state, counters, note } = createHarness();
  const guid = nextGuid(app);
  state.away = true;
  note(guid);
  await counters.flush();
  note(guid);
  await counters.flush();
  assert.equal(logged.length, 2);
  assert.deepEqual(await countersOf(guid), []);
  state.away = false;
  time.advance(5_000);
  await until(async () => (await countersOf(guid))[0]?.events === 2, 'both');
});

test('at most 10,000 counts wait in memory, and existing ones still increase', async () => {
  const { state, counters, note } = createHarness();
  const guid = nextGuid(app);
  state.away = true;
  for (let minute = 0; minute < 10_010; minute++) note(guid, minute);
  note(guid, 9_999);
  await counters.flush();
  state.away = false;
  await counters.flush();
  const { count, sum } = await queries
    .selectFrom('event_counters')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('events').as('sum')])
    .where('organization_guid', '=', guid)
    .executeTakeFirstOrThrow();
  assert.deepEqual([count, sum], [10_000, 10_001]);
});
