import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { LIMITED } from '../../../../testing/app/patience.ts';
import {
  createTenant,
  PRODUCTION_HOST,
  type Tenant,
  tokenOf,
  userToken,
} from '../../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { whileHeld } from '../../../../testing/database/locks.ts';
import { openEventStream } from '../../../../testing/webhooks/event-stream.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { metricOf, until } from '../../../../testing/webhooks/webhooks.ts';
import { firstGuidAt } from '../../../infrastructure/runtime/guid.ts';
import { formatPosition, parsePosition, positionAt } from './position.ts';

/** GET /api/subscription_events/stream over real connections, on two nodes. */
const testDatabase = await createTestDatabase();
const clock = createFakeClock();
const app = await createTestApp({ testDatabase, clock });
const other = await createTestApp({ testDatabase, clock });
after(() => testDatabase.drop());

const SCOPE = 'subscription_events:read';
/** A stream that does not end must not block the tests. */

const open = async (tenant: Tenant, options = {}, node = app) =>
  openEventStream(node, await tokenOf(app, tenant.organizationKey, SCOPE), options);

const streamsOf = (node: typeof app) => metricOf(node, 'portico_event_streams');
const untilStreams = (count: number, node = app) =>
  until(async () => (await streamsOf(node)) === count, `${count} streams`);

/** A transaction that has inserted an event and stays open, without the timeout of idle transactions. */
async function holdEvent(tenant: Tenant, guid: string) {
  const inserted = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const event = {
    ...{ guid, organization_guid: tenant.organizationGuid, bank_guid: null, object_guid: guid },
    ...{ environment: 'sandbox' as const, event_type: 'bank.created', created_at: clock.now() },
  };
  const committed = whileHeld(
    app.database,
    (queries) => queries.insertInto('events').values(event).execute(),
    async () => {
      inserted.resolve();
      await release.promise;
    },
  );
  await inserted.promise;
  return async () => {
    release.resolve();
    await committed;
  };
}

test('new events of any node arrive as the API shows them, without those of others', LIMITED, async () => {
  const tenant = await createTenant(app);
  const stranger = await createTenant(app);
  await publishEvents(app, tenant, 2);
  const stream = await open(tenant);
  const production = await openEventStream(
    app,
    await tokenOf(app, tenant.organizationKey, SCOPE, { host: PRODUCTION_HOST }),
  );
  await publishEvents(app, stranger, 1);
  const guids = await publishEvents(app, tenant, 2);
  clock.advance(1);
  guids.push(...(await publishEvents(other, tenant, 2)));
  await stream.untilEvents(4);
  assert.deepEqual(stream.guids(), guids);
  const token = await tokenOf(app, tenant.organizationKey, SCOPE);
  const { body } = await app.call({ url: `/api/subscription_events/${guids[0]}`, token });
  assert.deepEqual(stream.events[0], body);
  assert.deepEqual(production.events, []);
  for (const each of [stream, production]) each.close();
});

test('a stream resumes after any message on another node, and types are filtered', LIMITED, async () => {
  const tenant = await createTenant(app);
  const first = await open(tenant);
  const guids = await publishEvents(
    app,
    tenant,
    Array.from({ length: 20 }, (_, index) => ({
      event_type: index % 2 === 0 ? 'transfer.completed' : 'transfer.failed',
    })),
  );
  await first.untilEvents(20);
  first.close();
  const later = await publishEvents(app, tenant, 3);
  // The first id is that of the beginning.
  for (const seen of [0, 1, 7, 19, 20]) {
    const lastEventId = first.ids[seen];
    const resumed = await open(tenant, { lastEventId }, other);
    await resumed.untilEvents(23 - seen);
    assert.deepEqual(resumed.guids(), [...guids, ...later].slice(seen));
    resumed.close();
  }
  const completed = await open(tenant, {
    query: '?event_type=transfer.completed',
    lastEventId: first.ids[0],
  });
  await completed.untilEvents(13);
  assert.deepEqual(completed.guids(), [...guids.filter((_, index) => index % 2 === 0), ...later]);
  completed.close();
});

test('history of several pages is replayed in order from a time on', LIMITED, async () => {
  const tenant = await createTenant(app);
  await publishEvents(app, tenant, 3);
  clock.advance(3_600_000);
  const since = clock.now().toISOString();
  const guids: string[] = [];
  for (let count = 0; count < 3; count++) guids.push(...(await publishEvents(app, tenant, 400)));
  const stream = await open(tenant, { query: `?since=${since}` });
  await stream.untilEvents(1_200);
  assert.deepEqual(stream.guids(), guids);
  const resumed = await open(tenant, { lastEventId: stream.ids[700] }, other);
  await resumed.untilEvents(500);
  assert.deepEqual(resumed.guids(), guids.slice(700), 'from the middle of the history');
  for (const each of [stream, resumed]) each.close();
});

test('an event that commits late is not missed, live or after a reconnect', LIMITED, async () => {
  const tenant = await createTenant(app);
  const stream = await open(tenant);
  const early = `${firstGuidAt(clock.now()).slice(0, 12)}7000800000000000000a`;
  const commit = await holdEvent(tenant, early);
  const guids: string[] = [];
  for (let minute = 0; minute < 10; minute++) {
    clock.advance(60_000);
    guids.push(...(await publishEvents(app, tenant, 1)));
    await stream.untilEvents(guids.length);
  }
  assert.deepEqual(stream.guids(), guids);
  const lastEventId = stream.lastEventId();
  await commit();
  await stream.untilEvents(11);
  assert.deepEqual(stream.guids().at(-1), early);
  for (const node of [app, other]) {
    const resumed = await open(tenant, { lastEventId }, node);
    await resumed.untilEvents(1);
    assert.deepEqual(resumed.guids(), [early]);
    resumed.close();
  }
  stream.close();
});

test('an event with a guid of last week is streamed when it is created', LIMITED, async () => {
  const since = clock.now().toISOString();
  const tenant = await createTenant(app);
  const stream = await open(tenant);
  const guid = `${firstGuidAt(new Date(clock.now().getTime() - 6 * 86_400_000)).slice(0, 12)}7000800000000000000b`;
  await publishEvents(app, tenant, [{ guid }]);
  await stream.untilEvents(1);
  const [next] = await publishEvents(app, tenant, 1);
  await stream.untilEvents(2);
  assert.deepEqual(stream.guids(), [guid, next]);
  const replay = await open(tenant, { query: `?since=${since}` });
  await replay.untilEvents(3);
  assert.ok(replay.guids().includes(guid) && replay.guids().includes(String(next)));
  for (const each of [stream, replay]) each.close();
});

test('a position of another database repeats events and misses none', LIMITED, async () => {
  const tenant = await createTenant(app);
  const stream = await open(tenant);
  const [seen] = await publishEvents(app, tenant, 1);
  await stream.untilEvents(1);
  stream.close();
  const [missed] = await publishEvents(app, tenant, 1);
  const [floor, , snapshot] = String(stream.lastEventId()).split('.');
  // In the other database, these transactions have ended long ago.
  const ahead = `${floor}.00000000.${snapshot?.replace(/\d+/g, (id) => String(Number(id) + 1_000_000))}`;
  const resumed = await open(tenant, { lastEventId: ahead });
  // The first is the creation of the bank.
  await resumed.untilEvents(3);
  assert.deepEqual(resumed.guids().slice(1), [seen, missed]);
  resumed.close();
});

test('a redelivered event is repeated and marked', LIMITED, async () => {
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant, {});
  const [guid] = await publishEvents(app, tenant, 1);
  const stream = await open(tenant);
  const { status, body: delivery } = await app.call({
    method: 'POST',
    url: '/api/subscription_deliveries',
    token: await userToken(app, tenant.organizationGuid),
    payload: { subscription_event_guid: guid, subscription_guid: subscription.guid },
  });
  assert.equal(status, 201);
  await stream.untilEvents(1);
  assert.deepEqual(stream.guids(), [guid]);
  assert.deepEqual(stream.events[0]?.resend, {
    subscription_delivery_guid: delivery.guid,
    subscription_guid: subscription.guid,
    created_at: delivery.created_at,
  });
  stream.close();
});

test(
  'the stream has the common response headers, heartbeats, and no polls without streams',
  LIMITED,
  async () => {
    const tenant = await createTenant(app);
    const stream = await open(tenant);
    const { headers } = stream.response;
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(headers['x-accel-buffering'], 'no');
    assert.equal(headers.connection, 'close');
    clock.advance(15_000);
    await stream.pollUntil(() => stream.heartbeats() > 0, 'a heartbeat');
    stream.close();
    await untilStreams(0);
    clock.advance(1_000);
    const before = clock.waiting();
    clock.advance(10_000);
    assert.equal(clock.waiting(), before);
  },
);

test('invalid positions, times and types are refused', LIMITED, async () => {
  const tenant = await createTenant(app);
  const token = await tokenOf(app, tenant.organizationKey, SCOPE);
  const stream = await open(tenant);
  await stream.untilEvents(0);
  await until(() => stream.lastEventId() !== undefined, 'an id');
  const valid = String(stream.lastEventId());
  stream.close();
  for (const [query, lastEventId] of [
    ['?since=yesterday', undefined],
    ['?since=2016-12-31T23:59:60Z', undefined],
    ['?event_type=transfer.lost', undefined],
    ['', 'x'],
    ['', `${valid}.x`],
    ['', valid.replace(/:.*/, ':1:')],
    ['', `${valid}.${valid}.x`],
    ['', '9'.repeat(5_000)],
    ['', valid.replace(/[^.]*$/, '5:9:8,6')],
    ['', valid.replace(/[^.]*$/, '5:9:9')],
    ['', valid.replace(/[^.]*$/, '5:9:4')],
  ] as const) {
    const { status, body } = await app.call({
      url: `/api/subscription_events/stream${query}`,
      token,
      headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    });
    assert.deepEqual([status, body.message_code], [400, 'invalid_parameter'], `${query} ${lastEventId}`);
  }
});

test('the position of any time can be sent back', () => {
  for (const year of ['0001', '1969', '1970', '2026', '9999']) {
    const position = positionAt(new Date(`${year}-01-01T00:00:00Z`));
    assert.deepEqual(parsePosition(formatPosition(position)), position, year);
  }
});

test('the 21st stream of an Organization is refused', LIMITED, async () => {
  const tenant = await createTenant(app);
  const streams = [];
  for (let count = 0; count < 20; count++) streams.push(await open(tenant));
  const token = await tokenOf(app, tenant.organizationKey, SCOPE);
  const refused = await app.call({ url: '/api/subscription_events/stream', token });
  assert.deepEqual([refused.status, refused.body.message_code], [429, 'rate_limit_exceeded']);
  const guids = await publishEvents(app, tenant, 2);
  for (const each of streams) await each.untilEvents(2);
  for (const each of streams) assert.deepEqual(each.guids(), guids);
  for (const each of streams) each.close();
  await untilStreams(0);
});

test('a stream ends when its token expires or is revoked, and resumes with the next', LIMITED, async () => {
  const tenant = await createTenant(app);
  const { clientId, secret } = tenant.organizationKey;
  const expiring = await open(tenant);
  const token = await tokenOf(app, tenant.organizationKey, SCOPE);
  const revoked = await openEventStream(app, token);
  const payload = { token, client_id: clientId, client_secret: secret };
  assert.equal((await other.call({ method: 'POST', url: '/oauth/revoke', payload })).status, 200);
  assert.equal(await revoked.untilEnded(), 'ended');
  await untilStreams(1);
  clock.advance(1_800_000);
  assert.equal(await expiring.untilEnded(), 'ended');
  const [guid] = await publishEvents(app, tenant, 1);
  const resumed = await open(tenant, { lastEventId: expiring.lastEventId() });
  await resumed.untilEvents(1);
  assert.deepEqual(resumed.guids(), [guid]);
  resumed.close();
});

test('a shutdown ends the streams', LIMITED, async () => {
  const tenant = await createTenant(app);
  const closing = await createTestApp({ testDatabase, clock });
  const stream = await open(tenant, {}, closing);
  await closing.server.close();
  assert.equal(await stream.ended, 'ended');
  const token = await tokenOf(app, tenant.organizationKey, SCOPE);
  const head = await app.call({ method: 'HEAD', url: '/api/subscription_events/stream', token });
  assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
});
