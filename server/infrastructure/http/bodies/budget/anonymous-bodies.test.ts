import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  beginPost,
  createBareServer,
  listenAnywhere,
  untilTrue,
} from '../../../../../testing/app/http-server.ts';

/** Slow bodies from many networks must not block the bodies of other callers. */
const KIBIBYTE = 1_024;
const ANONYMOUS_BYTES = 512 * KIBIBYTE;
const NETWORKS = 64;
/** With the overhead of a chunk, one byte less than the limit of a network. */
const HELD_BYTES = ANONYMOUS_BYTES / NETWORKS - 1;
const SENT_BYTES = HELD_BYTES - 256 - '{"a":"'.length;

// A slow body does not time out, however long the others take.
mock.timers.enable({ apis: ['setTimeout'] });
const { server, bodyBudget } = createBareServer({
  maxBodyBytes: 4 * ANONYMOUS_BYTES,
  trustedProxies: ['127.0.0.1'],
});
server.post('/token', { schema: { hide: true } }, async () => ({}));
const port = await listenAnywhere(server);

function begin(address: string, sentBytes: number) {
  const headers = { 'x-forwarded-for': address, 'content-length': 16 * KIBIBYTE };
  return beginPost(port, '/token', headers, `{"a":"${'A'.repeat(sentBytes)}`);
}

async function post(address: string) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
  return fetch(`http://127.0.0.1:${port}/token`, { method: 'POST', headers, body: '{}' });
}

const OVERLOADED = /^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*"message_code":"overloaded"/s;

test('a body of a new network displaces an incomplete one when the anonymous share is exhausted', async () => {
  const slow = Array.from({ length: NETWORKS }, (_, index) => begin(`198.51.${index}.1`, SENT_BYTES));
  await untilTrue(() => bodyBudget.held() === NETWORKS * HELD_BYTES);
  const answers = await Promise.all(['203.0.113.1', '2001:db8::1'].map(post));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  await Promise.race(slow.map(({ closed }) => closed));
  const refused = slow.filter(({ received }) => received() !== '');
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]?.received()), OVERLOADED);
  for (const { socket } of slow) socket.destroy();
  await untilTrue(() => bodyBudget.held() === 0);
});

test('all addresses of a network share one limit, and its incomplete bodies are shed first', async () => {
  const slow = begin('192.0.2.1', SENT_BYTES);
  await untilTrue(() => bodyBudget.held() === HELD_BYTES);
  assert.equal((await post('192.0.2.200')).status, 200);
  await slow.closed;
  assert.match(slow.received(), OVERLOADED);
  await untilTrue(() => bodyBudget.held() === 0);
});
