import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createTenant } from '../../../testing/app/tenant.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../testing/webhooks/webhooks.ts';
import type { WebhookCheck } from './error.ts';
import { signWebhook } from './sign.ts';
import { verifyWebhook } from './verify.ts';

const KEY = '0123456789abcdef'.repeat(4);
const OTHER_KEY = 'f'.repeat(64);
const EVENT = {
  guid: '01a1dded271772668bf2ec53663f72e8',
  organization_guid: '01a1ddeaeac3720b8fec30b900ccd5a9',
  bank_guid: '01a1ddeaeac973a8b0d7d1730491bff1',
  event_type: 'transfer.completed',
  object_guid: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  environment: 'sandbox',
};
const BODY = JSON.stringify(EVENT);
const AT = new Date('2026-11-15T12:00:00Z');
const now = () => AT.getTime();
const HEADERS = await signWebhook(BODY, KEY, { guid: EVENT.guid, at: AT });
const { 'x-service-signature': SERVICE = '', ...STANDARD } = HEADERS;
const SERVICE_ONLY = { 'X-Service-Signature': SERVICE };

async function assertRefused(check: WebhookCheck, ...args: Parameters<typeof verifyWebhook>): Promise<void> {
  const [body, headers, keys, options] = args;
  await assert.rejects(verifyWebhook(body, headers, keys, { now, ...options }), {
    name: 'WebhookVerificationError',
    check,
  });
}

test('a delivery of the service is verified, and only with its key', async () => {
  const app = await createDispatchingApp();
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const { signing_key } = await createSubscription(app, tenant, { url: endpoint.url });
  await app.dispatcher.drain();
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
  assert.equal(endpoint.received.length, 2);
  for (const { body, headers } of endpoint.received) {
    const options = { now: () => app.clock.now().getTime() };
    const event = await verifyWebhook(body, headers, signing_key, options);
    assert.deepEqual(event, JSON.parse(body.toString()));
    await assertRefused('signature_mismatch', body, headers, OTHER_KEY, options);
  }
});

test('text, bytes, a part of a buffer and an ArrayBuffer are the exact bytes', async () => {
  const bytes = new TextEncoder().encode(BODY);
  const part = new Uint8Array([0, ...bytes, 0]).subarray(1, bytes.length + 1);
  for (const body of [BODY, bytes, part, bytes.buffer as ArrayBuffer, Buffer.from(BODY)])
    assert.deepEqual(await verifyWebhook(body, HEADERS, KEY, { now }), EVENT);
  await assertRefused('signature_mismatch', `${BODY} `, HEADERS, KEY);
});

test('headers may be of any kind and case', async () => {
  const upper = Object.fromEntries(
    Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  for (const headers of [HEADERS, upper, new Headers(HEADERS), new Map(Object.entries(HEADERS))])
    assert.deepEqual(await verifyWebhook(BODY, headers, KEY, { now }), EVENT);
});

test('either scheme is enough, and both have to be valid when both are there', async () => {
  for (const headers of [SERVICE_ONLY, STANDARD])
    assert.deepEqual(await verifyWebhook(BODY, headers, KEY, { now, requireTimestamp: false }), EVENT);
  const forged = SERVICE.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
  await assertRefused('signature_mismatch', BODY, { ...STANDARD, 'x-service-signature': forged }, KEY);
  const { 'webhook-signature': other = '' } = await signWebhook(BODY, OTHER_KEY, {
    guid: EVENT.guid,
    at: AT,
  });
  await assertRefused('signature_mismatch', BODY, { ...HEADERS, 'webhook-signature': other }, KEY);
});

test('each of several keys is accepted', async () => {
  for (const keys of [
    [KEY, OTHER_KEY],
    [OTHER_KEY, KEY],
  ])
    assert.deepEqual(await verifyWebhook(BODY, HEADERS, keys, { now }), EVENT);
});

test('one of several standard signatures is enough, of a limited number', async () => {
  const { 'webhook-signature': wrong } = await signWebhook(BODY, OTHER_KEY, { guid: EVENT.guid, at: AT });
  const right = STANDARD['webhook-signature'];
  const some = { ...STANDARD, 'webhook-signature': `v1a,abc ${wrong} ${right}` };
  assert.deepEqual(await verifyWebhook(BODY, some, KEY, { now }), EVENT);
  const many = { ...STANDARD, 'webhook-signature': `${`${wrong} `.repeat(5)}${right}` };
  await assertRefused('signature_mismatch', BODY, many, KEY);
});

test('the error says which check failed', async () => {
  await assertRefused('body_not_raw', EVENT as never, HEADERS, KEY);
  for (const keys of ['', [], [KEY, ''], undefined as never])
    await assertRefused('signing_key_missing', BODY, HEADERS, keys);
  await assertRefused('signature_missing', BODY, {}, KEY);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    await assertRefused('signature_missing', BODY, { ...HEADERS, [name]: undefined }, KEY);
  for (const value of ['', 'abc', SERVICE.toUpperCase(), `${SERVICE}, ${SERVICE}`])
    await assertRefused('signature_malformed', BODY, { 'x-service-signature': value }, KEY);
  await assertRefused('signature_malformed', BODY, { ...STANDARD, 'webhook-signature': 'v1,abc' }, KEY);
  await assertRefused('timestamp_malformed', BODY, { ...STANDARD, 'webhook-timestamp': 'now' }, KEY);
  await assertRefused('timestamp_missing', BODY, SERVICE_ONLY, KEY);
  for (const body of ['', '[]', 'null', '{"guid":1}'])
    await assertRefused('event_malformed', body, await signWebhook(body, KEY, { guid: 'g', at: AT }), KEY);
});

test('the timestamp is checked after the signature, with the given tolerance', async () => {
  const at = (seconds: number) => ({ now: () => AT.getTime() + seconds * 1_000 });
  for (const seconds of [-300, 300]) await verifyWebhook(BODY, HEADERS, KEY, at(seconds));
  await assertRefused('timestamp_too_old', BODY, HEADERS, KEY, at(301));
  await assertRefused('timestamp_too_new', BODY, HEADERS, KEY, at(-301));
  await assertRefused('timestamp_too_old', BODY, HEADERS, KEY, { ...at(11), toleranceSeconds: 10 });
  await assertRefused('signature_mismatch', BODY, HEADERS, OTHER_KEY, at(301));
  await assertRefused('timestamp_too_old', BODY, HEADERS, KEY, { toleranceSeconds: Number.NaN });
});

test('a signed request is accepted by other libraries', async () => {
  const headers = await signWebhook(BODY, KEY, { guid: EVENT.guid });
  assert.doesNotThrow(() => new Webhook(KEY, { format: 'raw' }).verify(BODY, headers));
  assert.equal(headers['x-service-signature'], createHmac('sha256', KEY).update(BODY).digest('hex'));
});
