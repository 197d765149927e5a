import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { ANY_CHARACTER } from '../../../../testing/api/any-character.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { version } from '../../../infrastructure/runtime/version.ts';
import { signedHeaders, signingKeyOf } from './signature.ts';

/** Named so that knip does not look for a package. */
const OPENSSL = 'openssl';
const SECRET = '0123456789abcdef'.repeat(4);
const KEY = signingKeyOf(new Secret(SECRET));
const EVENT = '7d7c8f0e9a3b4c5d8e6f7a8b9c0d1e2f';
const AT = new Date('2026-11-15T12:00:00.900Z');
const BODY = '{"name":"Zoë 😀","amount":"10.00"}';

/** HMAC from its definition (RFC 2104), using only the hash of node:crypto. */
function hmacSha256(key: string, message: string): Buffer {
  const block = Buffer.alloc(64);
  block.write(key, 'ascii');
  const hash = (pad: number, text: Buffer) =>
    createHash('sha256')
      .update(block.map((byte) => byte ^ pad))
      .update(text)
      .digest();
  return hash(0x5c, hash(0x36, Buffer.from(message)));
}

test('exactly these headers are set', () => {
  const headers = signedHeaders({ key: KEY, eventGuid: EVENT, body: BODY, at: AT });
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    'user-agent': `Portico-Webhooks/${version}`,
    'x-service-signature': hmacSha256(SECRET, BODY).toString('hex'),
    'webhook-id': EVENT,
    'webhook-timestamp': `${Date.parse('2026-11-15T12:00:00Z') / 1_000}`,
    'webhook-signature': `v1,${hmacSha256(SECRET, `${EVENT}.1794744000.${BODY}`).toString('base64')}`,
  });
});

test('a reference implementation agrees on any key, body and time', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
  const moment = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(hex, fc.uuid(), fc.string({ unit: ANY_CHARACTER }), moment, (secret, eventGuid, body, at) => {
      const headers = signedHeaders({ key: signingKeyOf(new Secret(secret)), eventGuid, body, at });
      const signed = `${eventGuid}.${Math.floor(at.getTime() / 1_000)}.${body}`;
      assert.equal(headers['x-service-signature'], hmacSha256(secret, body).toString('hex'));
      assert.equal(headers['webhook-signature'], `v1,${hmacSha256(secret, signed).toString('base64')}`);
    }),
  );
});

test('openssl computes the same signature', (t) => {
  const made = spawnSync(OPENSSL, ['dgst', '-sha256', '-hmac', SECRET], { input: BODY, encoding: 'utf8' });
  if (made.error) return t.skip('openssl is not installed');
  const headers = signedHeaders({ key: KEY, eventGuid: EVENT, body: BODY, at: AT });
  assert.equal(made.stdout.trim().split(' ').at(-1), headers['x-service-signature']);
});

for (const [library, Webhook] of [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const) {
  const secret = Buffer.from(SECRET).toString('base64');
  // Both libraries use the system clock.
  const now = () => signedHeaders({ key: KEY, eventGuid: EVENT, body: BODY, at: new Date() });
  const refuses = (webhook: StandardWebhook | SvixWebhook, body: string, headers: Record<string, string>) =>
    assert.throws(() => webhook.verify(body, headers), { message: 'No matching signature found' });

  test(`${library} verifies the signature, with and without whsec_, from text and from bytes`, () => {
    for (const webhook of [
      new Webhook(secret),
      new Webhook(`whsec_${secret}`),
      new Webhook(SECRET, { format: 'raw' }),
    ]) {
      assert.doesNotThrow(() => webhook.verify(BODY, now()));
      assert.doesNotThrow(() => webhook.verify(Buffer.from(BODY), now()));
    }
  });

  test(`${library} refuses a changed byte, a changed timestamp, a changed id and another key`, () => {
    const webhook = new Webhook(secret);
    const headers = now();
    refuses(webhook, BODY.replace('10.00', '90.00'), headers);
    refuses(webhook, `${BODY} `, headers);
    refuses(webhook, BODY, {
      ...headers,
      'webhook-timestamp': `${Number(headers['webhook-timestamp']) - 1}`,
    });
    refuses(webhook, BODY, { ...headers, 'webhook-id': EVENT.replace('7', '8') });
    refuses(new Webhook(Buffer.from(SECRET.replace('0', '1')).toString('base64')), BODY, headers);
    refuses(new Webhook(Buffer.from(SECRET, 'hex').toString('base64')), BODY, headers);
  });

  test(`${library} refuses an old timestamp`, () => {
    const headers = signedHeaders({
      key: KEY,
      eventGuid: EVENT,
      body: BODY,
      at: new Date(Date.now() - 600_000),
    });
    assert.throws(() => new Webhook(secret).verify(BODY, headers), { message: 'Message timestamp too old' });
  });
}
