import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { createTestApp, type TestApp } from '../../../../testing/app/app.ts';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { LIMITED } from '../../../../testing/app/patience.ts';
import { createTenant, PRODUCTION_HOST, tokenOf, userToken } from '../../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { openLive, untilViewers, untilWatched } from '../../../../testing/webhooks/live.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, metricOf, pass, until } from '../../../../testing/webhooks/webhooks.ts';

/** GET /api/subscription_deliveries/live over real connections: two dispatching nodes and one serving node. */
const testDatabase = await createTestDatabase();
const clock = createFakeClock();
const senders = [
  await createDispatchingApp({ testDatabase, clock }),
  await createDispatchingApp({ testDatabase, clock }),
] as const;
const [sender] = senders;
const watched = await createTestApp({ testDatabase, clock });
after(() => testDatabase.drop());

const SCOPE = 'subscription_events:read';
/** A stream that does not end must not block the tests. */

async function createEndpoint(owner?: Awaited<ReturnType<typeof createTenant>>) {
  const tenant = owner ?? (await createTenant(sender));
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(sender, tenant, { url: endpoint.url });
  // Either node may have claimed the first event.
  for (const { dispatcher } of senders) await dispatcher.drain();
  return { tenant, endpoint, subscription };
}

/** A stream whose interest has reached both dispatching nodes. */
async function watch(organizationGuid: string, query = '', app: TestApp = watched) {
  // Lets the interest of earlier tests expire.
  await untilViewers(watched, 0);
  clock.advance(30_000);
  const live = await openLive(app, await userToken(app, organizationGuid), query);
  assert.equal(live.response.statusCode, 200);
  for (const each of senders) await untilWatched(each);
  return live;
}

async function drainAll(): Promise<void> {
  for (const { dispatcher } of senders) await dispatcher.drain();
  clock.advance(250);
}

test('attempts of any node arrive as the API shows them', LIMITED, async () => {
  const { tenant, subscription } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  const guids: string[] = [];
  for (const each of senders) guids.push(...(await publishEvents(each, tenant, 2)));
  await drainAll();
  await until(() => live.attempts.length === 4, 'four attempts');
  assert.deepEqual(live.attempts.map((each) => each.subscription_event_guid).sort(), guids.sort());
  const [attempt] = live.attempts;
  const shown = await watched.call({
    url: `/api/subscription_deliveries/${attempt?.guid}`,
    token: await userToken(watched, tenant.organizationGuid),
  });
  const { attempts, completed_at, created_at, updated_at, attempt_count, request_body, ...rest } = shown.body;
  assert.deepEqual(
    { ...attempt },
    { ...rest, attempted_at: (attempts as { attempted_at: string }[])[0]?.attempted_at },
  );
  assert.equal(attempt?.subscription_guid, subscription.guid);
  live.close();
});

test('a failing delivery is storing, then failing, with its failure kind', LIMITED, async () => {
  const { tenant, endpoint } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  endpoint.behave({ kind: 'answer', status: 503 });
  await publishEvents(sender, tenant);
  await drainAll();
  await pass(15_000, senders);
  await drainAll();
  await until(() => live.attempts.length === 4, 'four attempts');
  // Those of two nodes may arrive in any order.
  const attempts = live.attempts.toSorted((a, b) =>
    String(a.attempted_at) < String(b.attempted_at) ? -1 : 1,
  );
  assert.deepEqual(
    attempts.map(({ state, failure_kind, response_status }) => [state, failure_kind, response_status]),
    [
      ['storing', 'rejected', 503],
      ['storing', 'rejected', 503],
      ['storing', 'rejected', 503],
      ['failing', 'rejected', 503],
    ],
  );
  live.close();
});

test('filters apply, and another Organization sees nothing', LIMITED, async () => {
  const one = await createEndpoint();
  const other = await createEndpoint(one.tenant);
  const all = await watch(one.tenant.organizationGuid);
  const stranger = await createTenant(sender);
  const strangers = await openLive(watched, await userToken(watched, stranger.organizationGuid));
  const token = await userToken(watched, one.tenant.organizationGuid);
  const narrow = await openLive(
    watched,
    token,
    `?subscription_guid=${other.subscription.guid}&state=completed`,
  );
  const production = await openLive(
    watched,
    await tokenOf(watched, one.tenant.organizationKey, SCOPE, { host: PRODUCTION_HOST }),
  );
  other.endpoint.behave((nth) => ({ kind: 'answer', status: nth % 2 === 0 ? 500 : 204 }));
  await publishEvents(sender, one.tenant, 4);
  await drainAll();
  await until(() => all.attempts.length === 8, 'all attempts');
  await until(() => narrow.attempts.length === 2, 'the two');
  assert.ok(
    narrow.attempts.every(
      (each) => each.subscription_guid === other.subscription.guid && each.state === 'completed',
    ),
  );
  assert.deepEqual([strangers.attempts, production.attempts], [[], []]);
  for (const live of [all, strangers, narrow, production]) live.close();
});

test('at most a hundred attempts per second arrive, with the number of dropped ones', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  await publishEvents(sender, tenant, 150);
  // Either node may have claimed some of them.
  await drainAll();
  await until(() => live.attempts.length === 100, 'a hundred');
  await until(async () => {
    await pass(1_000, senders);
    return live.dropped() === 50;
  }, 'the number of the others');
  assert.equal(live.attempts.length, 100);
  live.close();
});

test('the stream has the common response headers', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  const { headers } = live.response;
  assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.match(String(headers['x-request-id']), /^[0-9a-f]{32}$/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['x-accel-buffering'], 'no');
  assert.equal(headers.connection, 'close');
  clock.advance(15_000);
  await until(() => live.heartbeats() > 0, 'a heartbeat');
  live.close();
});

test('a refused request leaves no stream open', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  await untilViewers(watched, 0);
  for (const [token, query, status, code] of [
    ['x', '', 401, 'authentication_failed'],
    [await userToken(watched, tenant.organizationGuid), '?state=lost', 400, 'invalid_parameter'],
    [await userToken(watched, tenant.organizationGuid), '?limit=1', 400, 'invalid_parameter'],
    [await tokenOf(watched, tenant.organizationKey, 'customers:read'), '', 403, 'invalid_scopes'],
  ] as const) {
    const { response } = await openLive(watched, token, query);
    assert.equal(response.statusCode, status);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f]{32}$/);
    const { body } = await watched.call({ url: `/api/subscription_deliveries/live${query}`, token });
    assert.equal(body.message_code, code);
  }
  const token = await userToken(watched, tenant.organizationGuid);
  const head = await watched.call({ method: 'HEAD', url: '/api/subscription_deliveries/live', token });
  assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
  assert.equal(await metricOf(watched, 'portico_live_viewers'), 0);
});

test('the 21st stream of an Organization is refused with a JSON error', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const token = await userToken(watched, tenant.organizationGuid);
  const streams = [];
  for (let count = 0; count < 20; count++) streams.push(await openLive(watched, token));
  const refused = await watched.call({ url: '/api/subscription_deliveries/live', token });
  assert.deepEqual([refused.status, refused.body.message_code], [429, 'rate_limit_exceeded']);
  assert.deepEqual([refused.headers['retry-after'], refused.headers.connection], ['15', 'keep-alive']);
  for (const live of streams) live.close();
  await untilViewers(watched, 0);
});

test('a closed stream is removed', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  await untilViewers(watched, 1);
  live.close();
  await untilViewers(watched, 0);
});

test('a stream ends cleanly when its token expires', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const live = await watch(tenant.organizationGuid);
  clock.advance(298_000);
  await untilViewers(watched, 1);
  clock.advance(2_000);
  assert.equal(await live.ended, 'ended');
  await untilViewers(watched, 0);
});

test('a stream ends when its token is revoked on any node', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const { clientId, secret } = tenant.organizationKey;
  const token = await tokenOf(sender, tenant.organizationKey, SCOPE);
  const live = await openLive(watched, token);
  await untilViewers(watched, 1);
  const payload = { token, client_id: clientId, client_secret: secret };
  assert.equal((await sender.call({ method: 'POST', url: '/oauth/revoke', payload })).status, 200);
  clock.advance(1_000);
  assert.equal(await live.ended, 'ended');
});

test('a shutdown ends the streams without waiting for viewers', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const closing = await createTestApp({ testDatabase, clock });
  const live = await watch(tenant.organizationGuid, '', closing);
  const stalled = await openLive(closing, await userToken(closing, tenant.organizationGuid));
  stalled.response.pause();
  await closing.server.close();
  assert.equal(await live.ended, 'ended');
});

test('a long stream does not count as a slow request', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  const count = () =>
    metricOf(
      watched,
      'portico_http_request_seconds_count{method="GET",route="/api/subscription_deliveries/live",status="200"}',
    );
  const before = await count();
  const live = await watch(tenant.organizationGuid);
  live.close();
  await untilViewers(watched, 0);
  assert.equal(await count(), before);
});

test('without viewers no notifications are sent', LIMITED, async () => {
  const { tenant } = await createEndpoint();
  clock.advance(30_000);
  const client = new pg.Client({ connectionString: testDatabase.url.reveal() });
  await client.connect();
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('listen live_attempts');
  await publishEvents(sender, tenant, 50);
  await drainAll();
  clock.advance(1_000);
  // Notifications arrive in commit order, so earlier ones have been received by now.
  await client.query("select pg_notify('live_attempts', 'last')");
  await until(() => heard.includes('last'), 'the last message');
  assert.deepEqual(heard, ['last']);
  await client.end();
});
