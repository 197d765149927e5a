import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signWebhook } from '../../../sdk/src/webhooks/sign.ts';
import { bodyOf } from '../../../server/webhooks/deliveries/delivery.ts';
import { checkSignature } from './check-signature.ts';

const KEY = '1f'.repeat(32);
const OTHER_KEY = '2e'.repeat(32);
const GUID = '01a1dded271772668bf2ec53663f72e8';
const SENT_AT = new Date('2026-11-15T12:00:00Z');
const MINUTE_MS = 60_000;
const BODY = bodyOf({
  eventGuid: GUID,
  organizationGuid: '01a1ddeaeac3720b8fec30b900ccd5a9',
  bankGuid: '01a1ddeaeac973a8b0d7d1730491bff1',
  eventType: 'transfer.completed',
  objectGuid: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  environment: 'sandbox',
});
const signed = await signWebhook(BODY, KEY, { guid: GUID, at: SENT_AT });
const LINES = linesOf(signed);

function linesOf(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

async function titleOf(changes: { headers?: string; body?: string; signingKey?: string }, afterMs = 0) {
  const pasted = { headers: LINES, body: BODY, signingKey: KEY, ...changes };
  return (await checkSignature(pasted, SENT_AT.getTime() + afterMs)).title;
}

test('a request is valid in the forms in which logs and commands show it', async () => {
  const entries = Object.entries(signed);
  const forms = {
    lines: LINES,
    'curl -v': `> POST /hooks HTTP/1.1\n> Host: partner.example\n${entries.map(([name, value]) => `> ${name}: ${value}\r\n`).join('')}>`,
    'a curl command': `curl -gi 'https://partner.example' \\\n${entries.map(([name, value]) => `  -H '${name}: ${value}' \\`).join('\n')}`,
    JSON: JSON.stringify(signed, undefined, 2),
    'a printed object': `{\n${entries.map(([name, value]) => `  '${name}': '${value}',`).join('\n')}\n}`,
    'the API': JSON.stringify(entries.map(([name, value]) => ({ name, value }))),
  };
  for (const [name, headers] of Object.entries(forms))
    assert.equal(await titleOf({ headers }), 'Signature valid', name);
  assert.equal(await titleOf({ headers: `${LINES}\r\n\r\n${BODY}\n`, body: '' }), 'Signature valid');
  assert.equal(await titleOf({ headers: forms['curl -v'].concat('\n', BODY), body: '' }), 'Signature valid');
  const command = forms['a curl command'].concat(`\n  --data-raw '${BODY}'`);
  assert.equal(await titleOf({ headers: command, body: '' }), 'Signature valid');
  assert.equal(await titleOf({ body: `${BODY}\n`, signingKey: ` ${OTHER_KEY}, ${KEY} ` }), 'Signature valid');
  assert.equal(
    await titleOf({ headers: `X-Service-Signature: ${signed['x-service-signature']}` }),
    'Signature valid',
  );
});

test('the result names the check that failed', async () => {
  const without = (...names: string[]) =>
    linesOf(Object.fromEntries(Object.entries(signed).filter(([name]) => !names.includes(name))));
  assert.equal(await titleOf({ signingKey: ' ' }), 'Signing key missing');
  assert.equal(await titleOf({ headers: 'content-type: application/json' }), 'Headers missing');
  assert.equal(await titleOf({ headers: without('webhook-timestamp') }), 'Header missing');
  assert.equal(
    await titleOf({ headers: LINES.replace(/webhook-signature: .*/, 'webhook-signature: v1,abc') }),
    'Signature malformed',
  );
  assert.equal(await titleOf({ signingKey: OTHER_KEY }), 'Wrong signing key');
  assert.equal(await titleOf({ signingKey: KEY.slice(1) }), 'Wrong signing key');
  assert.equal(await titleOf({}, 5 * MINUTE_MS), 'Signature valid');
  assert.equal(await titleOf({}, 6 * MINUTE_MS), 'Timestamp older than 5 minutes');
  assert.equal(await titleOf({}, -6 * MINUTE_MS), 'Timestamp more than 5 minutes in the future');
  assert.equal(
    await titleOf({ headers: LINES.replace(/(webhook-timestamp: )\d+/, '$11') }),
    'Header changed',
  );
});

test('a changed body is told from a wrong key', async () => {
  const event = JSON.parse(BODY) as Record<string, string>;
  const reversed = JSON.stringify(Object.fromEntries(Object.entries(event).reverse()));
  for (const body of [JSON.stringify(event, undefined, 2), reversed, BODY.slice(0, -1)])
    assert.equal(await titleOf({ body }), 'Body changed');
  const changed = BODY.replace('transfer.completed', 'transfer.failed');
  assert.equal(
    await titleOf({ headers: `${LINES}\nContent-Length: ${BODY.length}`, body: changed }),
    'Body changed',
  );
  assert.equal(await titleOf({ body: BODY.replace(GUID, 'f'.repeat(32)) }), 'Body changed');
  assert.equal(
    await titleOf({ body: JSON.stringify(event, undefined, 2), signingKey: OTHER_KEY }),
    'Body changed',
  );
});
