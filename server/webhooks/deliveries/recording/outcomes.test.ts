import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { deliveriesOf } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import {
  type Behaviour,
  createTestEndpoint,
  drip,
  refusing,
} from '../../../../testing/webhooks/test-endpoint.ts';
import {
  attemptsOf,
  createDispatchingApp,
  deliveryOf,
  metricOf,
  showDelivery,
} from '../../../../testing/webhooks/webhooks.ts';
import { AUTHORITY, PARTNER_CERTIFICATE } from '../testing/certificates.ts';
import { named } from '../testing/posting.ts';

/** Outcomes of misbehaving endpoints, as shown to their owners. */
setDefaultCACertificates([...getCACertificates('default'), AUTHORITY]);

const ADDRESSES: Record<string, string> = {
  'loopback.test': '127.0.0.1',
  'metadata.test': '169.254.169.254',
  'embedded.test': '::ffff:10.0.0.1',
  'hooks.partner.test': '127.0.0.1',
  'other.partner.test': '127.0.0.1',
};

async function resolve(hostname: string): Promise<string[]> {
  const address = ADDRESSES[hostname];
  if (address === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return [address];
}

const app = await createDispatchingApp({ resolve });
const strict = await createDispatchingApp({
  resolve,
  environment: { PORTICO_WEBHOOK_ALLOW_PRIVATE: 'false' },
});

type Expected = {
  outcome: string;
  status?: number;
  reason?: string;
  excerpt?: string;
  durationMs?: number;
};
type Place = {
  url: string;
  node?: TestApp;
  environment?: 'sandbox' | 'production';
  waitMs?: number;
  waitFor?: string;
};

/** Resolves at the next message of the HTTP client. */
function nextMessage(channel: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onMessage = () => {
    unsubscribe(channel, onMessage);
    resolve();
  };
  subscribe(channel, onMessage);
  return promise;
}

/** Makes one attempt and returns its record. */
async function attemptAt({ url, node = app, environment = 'sandbox', waitMs = 0, waitFor }: Place) {
  const tenant = await createTenant(node, { environment });
  const subscription = await createSubscription(node, tenant, { url, environment, active: true });
  const [event] = waitMs > 0 ? [] : await publishEvents(node, tenant);
  const reached = waitFor && nextMessage(waitFor);
  const drained = node.dispatcher.drain();
  if (reached) {
    await reached;
    node.clock.advance(waitMs);
  }
  await drained;
  const [created] = await deliveriesOf(node, subscription);
  const delivery = await deliveryOf(node, subscription, event ?? String(created?.event_guid));
  const [attempt, ...more] = await attemptsOf(node, delivery);
  assert.equal(more.length, 0);
  return { tenant, subscription, delivery, attempt, view: await showDelivery(node, tenant, delivery.guid) };
}

async function assertFails(place: Place, { outcome, status, reason, excerpt, durationMs = 0 }: Expected) {
  const { attempt, delivery, view } = await attemptAt(place);
  assert.ok(attempt);
  assert.equal(attempt.outcome, outcome);
  assert.equal(attempt.response_status, status ?? null);
  assert.equal(attempt.reason, reason ?? null);
  assert.equal(attempt.response_excerpt, excerpt ?? null);
  assert.equal(attempt.duration_ms, durationMs);
  assert.deepEqual([delivery.failure_kind, delivery.response_status], [outcome, status ?? null]);
  assert.equal(delivery.response_time_ms, durationMs);
  assert.deepEqual([view.state, view.failure_kind, view.attempt_count], ['storing', outcome, 1]);
  assert.ok(view.next_attempt_at, 'it is tried again');
  const { request, response_headers, ...shown } = view.attempts[0] ?? {};
  assert.ok(request);
  assert.equal(response_headers !== undefined, status !== undefined);
  assert.deepEqual(shown, {
    number: 1,
    attempted_at: attempt.attempted_at.toISOString(),
    duration_ms: durationMs,
    outcome,
    ...(status === undefined ? {} : { response_status: status }),
    ...(excerpt === undefined ? {} : { response_excerpt: excerpt }),
    ...(reason === undefined ? {} : { reason }),
    slow: durationMs > 2_000,
  });
}

async function behaving(behaviour: Behaviour, path = ''): Promise<string> {
  const endpoint = await createTestEndpoint();
  endpoint.behave(behaviour);
  return endpoint.url + path;
}

test('connection refused: unreachable', async () => {
  await assertFails({ url: await refusing() }, { outcome: 'unreachable', reason: 'connection refused' });
});

test('a name that does not exist: unreachable', async () => {
  const reason = 'the host does not resolve to a public address';
  await assertFails({ url: 'http://nowhere.test/' }, { outcome: 'unreachable', reason });
});

test('reset before the response: unreachable', async () => {
  const url = await behaving({ kind: 'reset' });
  await assertFails({ url }, { outcome: 'unreachable', reason: 'connection reset' });
});

test('reset during the response: unreachable, with the status and the excerpt', async () => {
  const url = await behaving({ kind: 'resetMidResponse' });
  const { attempt } = await attemptAt({ url });
  assert.deepEqual([attempt?.outcome, attempt?.response_status], ['unreachable', 200]);
  assert.equal(attempt?.response_excerpt, 'the first part');
  assert.match(String(attempt?.reason), /^(connection reset|the connection closed before)/);
});

test('no response: timeout after ten seconds', async () => {
  const url = await behaving({ kind: 'hang' });
  const reason = 'no response within 10 seconds';
  await assertFails(
    { url, waitMs: 10_000, waitFor: 'undici:client:sendHeaders' },
    { outcome: 'timeout', reason, durationMs: 10_000 },
  );
});

test('slow response body: timeout after ten seconds', async () => {
  const url = await behaving(drip('a body that never ends in time'));
  const reason = 'the response was not complete within 10 seconds';
  await assertFails(
    { url, waitMs: 10_000, waitFor: 'undici:request:headers' },
    { outcome: 'timeout', status: 200, reason, durationMs: 10_000 },
  );
});

test('an endless body with 200: a success with the first 1 KB', async () => {
  const { view, delivery } = await attemptAt({ url: await behaving({ kind: 'endless' }) });
  assert.equal(view.state, 'completed');
  assert.equal(delivery.response_excerpt, 'e'.repeat(1_024));
  assert.equal(view.attempts[0]?.response_excerpt, 'e'.repeat(1_024));
});

test('a long body with 500: rejected with the first 1 KB', async () => {
  const url = await behaving({ kind: 'answer', status: 500, body: 'ä'.repeat(2_000) });
  await assertFails({ url }, { outcome: 'rejected', status: 500, excerpt: 'ä'.repeat(512) });
});

test('1 MB of headers: unreachable', async () => {
  const url = await behaving({ kind: 'hugeHeaders', bytes: 1_000_000 });
  const reason = 'the response headers are too large';
  await assertFails({ url }, { outcome: 'unreachable', reason });
});

test('no HTTP at all: unreachable', async () => {
  const url = await behaving({ kind: 'garbage' });
  const reason = 'the response is not valid HTTP';
  await assertFails({ url }, { outcome: 'unreachable', reason });
});

test('an unsolicited 100 Continue: unreachable', async () => {
  const listener = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  after(() => listener.close());
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const reason = 'the response is not valid HTTP';
  await assertFails({ url }, { outcome: 'unreachable', reason });
});

for (const status of [301, 302, 400, 401, 404, 410, 429, 500, 503])
  test(`${status}: rejected`, async () => {
    const url = await behaving({ kind: 'answer', status, headers: { location: '/x' }, body: 'why' });
    await assertFails({ url }, { outcome: 'rejected', status, excerpt: 'why' });
  });

test('204: completed, and its only attempt is shown', async () => {
  const { view, attempt } = await attemptAt({ url: await behaving({ kind: 'answer', status: 204 }) });
  assert.equal(attempt, undefined, 'a first success has no row of its own');
  assert.deepEqual([view.state, view.failure_kind, view.response_status], ['completed', undefined, 204]);
  assert.equal(view.attempts.length, 1);
  assert.equal(view.attempts[0]?.outcome, 'completed');
});

test('a certificate for another name: unreachable', async () => {
  const { url } = await createTestEndpoint({ tls: PARTNER_CERTIFICATE });
  const reason = 'the certificate does not match the host name';
  await assertFails({ url: named(url, 'other.partner.test') }, { outcome: 'unreachable', reason });
  const { view } = await attemptAt({ url: named(url, 'hooks.partner.test') });
  assert.equal(view.state, 'completed');
});

for (const [name, address] of Object.entries(ADDRESSES).slice(0, 3)) {
  const expected = { outcome: 'unreachable', reason: 'the host does not resolve to a public address' };
  test(`a name that resolves to ${address}: unreachable without the permission`, async () => {
    const endpoint = await createTestEndpoint();
    await assertFails({ url: named(endpoint.url, name), node: strict }, expected);
    // Another process may still send to an endpoint that had this port before.
    const hosts = endpoint.received.map(({ headers }) => String(headers.host));
    assert.ok(!hosts.some((host) => host.startsWith(name)), String(hosts));
  });
  test(`PORTICO_WEBHOOK_ALLOW_PRIVATE does not let a production subscription reach ${address}`, async () => {
    const endpoint = await createTestEndpoint({ tls: PARTNER_CERTIFICATE });
    await assertFails({ url: named(endpoint.url, name), environment: 'production' }, expected);
    assert.equal(endpoint.received.length, 0);
  });
}

test('an IP address in the url is checked, too', async () => {
  const endpoint = await createTestEndpoint();
  const expected = { outcome: 'unreachable', reason: 'the host does not resolve to a public address' };
  await assertFails({ url: endpoint.url, node: strict }, expected);
  await assertFails({ url: endpoint.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'), node: strict }, expected);
});

test('the metrics count attempts by outcome', async () => {
  const count = (outcome: string) => metricOf(app, `portico_delivery_attempts_total{outcome="${outcome}"}`);
  const before = await Promise.all(['completed', 'rejected', 'unreachable'].map(count));
  await attemptAt({ url: await behaving({ kind: 'answer' }) });
  await attemptAt({ url: await behaving({ kind: 'answer', status: 500 }) });
  await attemptAt({ url: await refusing() });
  const now = await Promise.all(['completed', 'rejected', 'unreachable'].map(count));
  // Each subscription receives the event of its own creation, too.
  assert.deepEqual(
    now.map((value, index) => value - (before[index] ?? 0)),
    [2, 2, 2],
  );
});
