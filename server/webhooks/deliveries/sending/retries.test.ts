import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { type Answer, createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  deliveryOf,
  eventIn,
  queueOf,
  showDelivery,
} from '../../../../testing/webhooks/webhooks.ts';

const app = await createDispatchingApp();
const { clock } = app;
const inSeconds = (seconds: number) => new Date(clock.now().getTime() + seconds * 1_000).toUTCString();

/** Sends an event to an endpoint with this answer; returns the delivery and the delay of the next attempt. */
async function failOnce(answer: Answer, node: TestApp = app) {
  const tenant = await createTenant(node);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(node, tenant, { url: endpoint.url });
  await node.dispatcher.drain();
  endpoint.behave({ kind: 'answer', ...answer });
  const [event = ''] = await publishEvents(node, tenant);
  await node.dispatcher.drain();
  const { guid } = await deliveryOf(node, subscription, event);
  const delayMs = async () => {
    const [queued] = await queueOf(node, subscription);
    return queued && queued.due_at.getTime() - node.clock.now().getTime();
  };
  return { tenant, endpoint, subscription, delayMs, view: () => showDelivery(node, tenant, guid) };
}

const asks = (status: number, retryAfter: string) => ({ status, headers: { 'retry-after': retryAfter } });

/** `schedule.test.ts` has each form for both statuses. */
const FORMS = [
  ['seconds', () => '90', 90_000],
  ['a date', () => inSeconds(120), 120_000],
  ['more seconds than the longest delay', () => '3600', 600_000],
  ['a date beyond the longest delay', () => inSeconds(86_400), 600_000],
  ['fewer seconds than the delay would be', () => '1', 2_000],
  ['zero', () => '0', 2_000],
  ['a date that has passed', () => inSeconds(-60), 2_000],
  ['nothing', () => '', 2_000],
  ['words', () => 'soon', 2_000],
  ['a negative number', () => '-90', 2_000],
  ['a fraction', () => '90.5', 2_000],
  ['words with a year', () => 'busy until 2099', 2_000],
  ['a date of another form', () => new Date(clock.now().getTime() + 90_000).toISOString(), 2_000],
  ['more digits than a number has', () => '9'.repeat(400), 600_000],
] as const;
const FORMS_OF_429 = FORMS.slice(0, 3);

for (const [status, forms] of [
  [429, FORMS_OF_429],
  [503, FORMS],
] as const) {
  for (const [form, value, expectedMs] of forms) {
    test(`${status} with Retry-After as ${form}: retried after ${expectedMs / 1_000} s`, async () => {
      const { delayMs, view } = await failOnce(asks(status, value()));
      assert.equal(await delayMs(), expectedMs);
      const { failure_kind, response_status, next_attempt_at } = await view();
      assert.deepEqual([failure_kind, response_status], ['rejected', status]);
      assert.equal(next_attempt_at, new Date(clock.now().getTime() + expectedMs).toISOString());
    });
  }
}

for (const status of [500, 502, 410, 404, 301])
  test(`Retry-After of ${status} is ignored: retried after 2 s`, async () => {
    const { delayMs, view } = await failOnce(asks(status, '90'));
    assert.equal(await delayMs(), 2_000);
    const { failure_kind, response_status, state } = await view();
    assert.deepEqual([failure_kind, response_status, state], ['rejected', status, 'storing']);
  });

test('each response’s Retry-After sets the time of the next attempt', async () => {
  const { endpoint, delayMs, view } = await failOnce(asks(429, '90'));
  const before = endpoint.received.length;
  clock.advance(89_999);
  await app.dispatcher.drain();
  assert.equal(endpoint.received.length, before);
  endpoint.behave({ kind: 'answer', status: 429 });
  clock.advance(1);
  await app.dispatcher.drain();
  assert.equal(endpoint.received.length, before + 1);
  assert.equal(await delayMs(), 4_000, 'the second delay of the schedule');
  endpoint.behave({ kind: 'answer' });
  clock.advance(4_000);
  await app.dispatcher.drain();
  const { state, attempt_count, completed_at } = await view();
  assert.deepEqual([state, attempt_count, completed_at], ['completed', 3, clock.now().toISOString()]);
});

for (const status of [301, 302, 303, 307, 308])
  test(`${status} is a failure, and its Location is not fetched`, async () => {
    const elsewhere = await createTestEndpoint();
    const { view } = await failOnce({ status, headers: { location: elsewhere.url } });
    const { failure_kind, response_status, attempt_count } = await view();
    assert.deepEqual([failure_kind, response_status, attempt_count], ['rejected', status, 1]);
    assert.equal(elsewhere.received.length, 0);
  });

for (const status of [200, 201, 202, 204, 299])
  test(`${status} is a success`, async () => {
    const { view, delayMs } = await failOnce({ status });
    const { state, response_status, attempts } = await view();
    assert.deepEqual([state, response_status, attempts.length], ['completed', status, 1]);
    assert.equal(await delayMs(), undefined);
  });

test('410 is an ordinary failure that is retried', async () => {
  const { endpoint, view } = await failOnce({ status: 410 });
  endpoint.behave({ kind: 'answer' });
  clock.advance(2_000);
  await app.dispatcher.drain();
  assert.equal((await view()).state, 'completed');
});

test('every attempt sends the same body with its own signed timestamp', async () => {
  const { endpoint, view } = await failOnce({ status: 500 });
  for (const seconds of [2, 4, 8, 660, 660]) {
    clock.advance(seconds * 1_000);
    await app.dispatcher.drain();
  }
  const { attempts, subscription_event_guid } = await view();
  const sent = endpoint.received.filter((request) => eventIn(request).guid === subscription_event_guid);
  assert.equal(sent.length, 6);
  assert.equal(attempts.length, 6);
  for (const [index, { body, headers }] of sent.entries()) {
    assert.ok(sent[0]?.body.equals(body), `attempt ${index + 1}`);
    assert.equal(headers['webhook-id'], subscription_event_guid);
    const at = new Date(String(attempts[index]?.attempted_at));
    assert.equal(headers['webhook-timestamp'], `${Math.floor(at.getTime() / 1_000)}`);
    assert.equal(headers['x-service-signature'], sent[0]?.headers['x-service-signature']);
  }
  const signatures = new Set(sent.map(({ headers }) => headers['webhook-signature']));
  assert.equal(signatures.size, 6, 'the moment is signed');
});

test('PORTICO_RETRY_MAX_DELAY limits the schedule and Retry-After', async () => {
  const quick = await createDispatchingApp({ environment: { PORTICO_RETRY_MAX_DELAY: '30s' } });
  const { endpoint, delayMs } = await failOnce(asks(503, '3600'), quick);
  assert.equal(await delayMs(), 30_000);
  endpoint.behave({ kind: 'answer', status: 500 });
  const delays: number[] = [];
  for (let attempt = 2; attempt <= 20; attempt += 1) {
    quick.clock.advance((await delayMs()) ?? assert.fail());
    await quick.dispatcher.drain();
    delays.push((await delayMs()) ?? assert.fail());
  }
  assert.deepEqual(delays.slice(0, 2), [4_000, 8_000]);
  for (const delay of delays.slice(2)) assert.ok(delay >= 27_000 && delay <= 33_000, `${delay} ms`);
});

test('retries of deliveries that failed together are spread by 10 % jitter', async () => {
  const { tenant, subscription } = await failOnce({ status: 500 });
  const tried = Array.from({ length: 60 }, () => ({ attempt_count: 4, failing_since: clock.now() }));
  const guids = await insertDeliveries(app, tenant, subscription, tried);
  // An endpoint that keeps failing gets a pause of 50 ms after each attempt.
  for (let step = 0; step < guids.length; step += 1) {
    await app.dispatcher.drain();
    clock.advance(50);
  }
  const queued = (await queueOf(app, subscription)).filter(({ delivery_guid }) =>
    guids.includes(delivery_guid),
  );
  const delays = queued.map(({ due_at, scheduled_at }) => due_at.getTime() - scheduled_at.getTime());
  assert.equal(delays.length, guids.length);
  assert.ok(Math.min(...delays) >= 540_000 && Math.max(...delays) <= 660_000);
  assert.ok(Math.min(...delays) < 570_000 && Math.max(...delays) > 630_000, 'in the outer quarters, too');
  assert.ok(new Set(delays).size > 50);
});
