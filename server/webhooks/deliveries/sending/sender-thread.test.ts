import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setEnvironmentData } from 'node:worker_threads';
import { Webhook } from 'standardwebhooks';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Behaviour } from '../testing/fake-sender-worker.ts';
import { EXCHANGE_TIMEOUT_MS } from './exchange.ts';
import type { SendRequest } from './sender.ts';
import { createSenderThread } from './sender-thread.ts';

const KEY = 'ab'.repeat(32);
const EVENT = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const logged: string[] = [];
const log = createLog({
  level: 'debug',
  terminal: false,
  destination: { write: (line) => void logged.push(line) },
});

type Received = { headers: IncomingMessage['headers']; body: string };

/** An endpoint in the test's own thread. */
async function receive(answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    answer(response);
  });
  // Only the sender closes idle connections, so that no request meets a closing one.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => server.closeAllConnections());
  after(() => server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function requestTo(url: string, request: Partial<SendRequest> = {}): SendRequest {
  const at = new Date();
  return {
    url,
    eventGuid: EVENT,
    body: '{"a":1}',
    signingKey: new Secret(KEY),
    at,
    allowPrivate: true,
    ...request,
  };
}

function start(script?: URL) {
  const clock = createFakeClock();
  const sender = createSenderThread({ clock, timers: clock, log, script });
  after(() => sender.close());
  return { ...sender, clock };
}

test('requests are signed with the key of their endpoint', async () => {
  const { received, url } = await receive((response) => response.end());
  const sender = start();
  const other = 'cd'.repeat(32);
  await sender.send(requestTo(url));
  await sender.send(requestTo(url, { signingKey: new Secret(other), body: '{"b":2}' }));
  for (const [index, key] of [KEY, other].entries()) {
    const { headers, body } = received[index] as Received;
    assert.equal(headers['x-service-signature'], createHmac('sha256', key).update(body).digest('hex'));
    const secret = Buffer.from(key).toString('base64');
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  }
});

test('the answer has status, excerpt and Retry-After', async () => {
  const { url } = await receive((response) =>
    response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
  );
  const { durationMs, details, ...answer } = await start().send(requestTo(url));
  assert.equal(details?.responseHeaders?.['retry-after'], '7');
  assert.deepEqual(answer, { kind: 'answered', status: 429, retryAfter: '7', excerpt: 'slow down' });
  assert.ok(durationMs >= 0);
});

test('concurrent requests get their own answers', async () => {
  let status = 200;
  const { url } = await receive((response) => response.writeHead(status++).end());
  const sender = start();
  const requests = Array.from({ length: 50 }, (_, n) => requestTo(url, { body: `{"n":${n}}` }));
  const answers = await Promise.all(requests.map((request) => sender.send(request)));
  const statuses = answers.map((answer) => answer.status ?? 0);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    requests.map((_, n) => 200 + n),
  );
});

test('private addresses stay out of reach unless the request allows them', async () => {
  const { received, url } = await receive((response) => response.end());
  const answer = await start().send(requestTo(url, { allowPrivate: false }));
  assert.equal(answer.kind, 'unreachable');
  assert.deepEqual(received, []);
});

const FAKE_WORKER = new URL('../testing/fake-sender-worker.ts', import.meta.url);
const setBehaviour = (behaviour: Behaviour) => setEnvironmentData('behaviour', behaviour);
const exits = () => logged.filter((line) => line.includes('sender thread exited')).length;
const RESTART_DELAY_MS = 1_000;

test('after a crash a new thread sends the pending requests', async () => {
  setBehaviour('crashing');
  const { clock, send } = start(FAKE_WORKER);
  const before = exits();
  const answers = [send(requestTo('http://a/')), send(requestTo('http://b/'))];
  await until(() => exits() > before);
  setBehaviour('working');
  answers.push(send(requestTo('http://c/')));
  clock.advance(RESTART_DELAY_MS);
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 204);
  assert.ok(logged.some((line) => line.includes('test crash')));
});

test('a request pending in two crashes is unreachable; later ones are sent', async () => {
  setBehaviour('crashing');
  const { clock, send } = start(FAKE_WORKER);
  const before = exits();
  const crashed = send(requestTo('http://a/'));
  await until(() => exits() > before);
  clock.advance(RESTART_DELAY_MS);
  await until(() => exits() > before + 1);
  assert.deepEqual(await crashed, {
    kind: 'unreachable',
    reason: 'the request could not be sent',
    durationMs: 0,
  });
  setBehaviour('working');
  const later = send(requestTo('http://a/'));
  clock.advance(RESTART_DELAY_MS);
  assert.equal((await later).status, 204);
});

test('a thread that is silent for three times the exchange timeout is replaced', async () => {
  setBehaviour('silent');
  const { clock, send } = start(FAKE_WORKER);
  const before = exits();
  const answer = send(requestTo('http://a/'));
  await turn();
  clock.advance(3 * EXCHANGE_TIMEOUT_MS - 1);
  await turn();
  assert.equal(exits(), before);
  clock.advance(1);
  await until(() => exits() > before);
  setBehaviour('working');
  clock.advance(RESTART_DELAY_MS);
  assert.equal((await answer).status, 204);
});

test('a request that the sender cannot send is unreachable and logged; others continue', async () => {
  const { url } = await receive((response) => response.end());
  const { send } = start();
  const unsignable = requestTo(url, { body: undefined as unknown as string });
  const [faulty, good] = await Promise.all([send(unsignable), send(requestTo(url))]);
  assert.equal(faulty.kind, 'unreachable');
  assert.equal(good.status, 200);
  assert.ok(logged.some((line) => line.includes('could not send a delivery')));
});

test('log lines never contain a key', () => {
  assert.ok(logged.every((line) => !line.includes(KEY)));
});

test('after close, pending and new requests are not sent', async () => {
  const { received, url } = await receive(() => sender.close());
  const sender = start();
  const answer = await sender.send(requestTo(url));
  assert.deepEqual(answer, { kind: 'unreachable', reason: 'the service is stopping', durationMs: 0 });
  assert.deepEqual(await sender.send(requestTo(url)), answer);
  assert.equal(received.length, 1);
});

test('close without a request starts no thread', async () => {
  await start(new URL('./nowhere.ts', import.meta.url)).close();
});
