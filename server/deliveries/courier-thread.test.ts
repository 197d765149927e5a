import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createLog } from '../runtime/log.ts';
import { Secret } from '../runtime/secret.ts';
import type { Letter } from './courier.ts';
import { createCourierThread } from './courier-thread.ts';

const KEY = 'ab'.repeat(32);
const EVENT = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const logged: string[] = [];
const log = createLog({
  level: 'debug',
  terminal: false,
  destination: { write: (line) => void logged.push(line) },
});

type Received = { headers: IncomingMessage['headers']; body: string };

/** A receiver in the test's own thread, and the address of one that is not there. */
async function receive(answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.closeAllConnections());
  after(() => server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function letterTo(url: string, letter: Partial<Letter> = {}): Letter {
  const at = new Date();
  return {
    url,
    eventGuid: EVENT,
    body: '{"a":1}',
    signingKey: new Secret(KEY),
    at,
    allowPrivate: true,
    ...letter,
  };
}

function start(script?: URL) {
  const courier = createCourierThread({ log, script });
  after(() => courier.close());
  return courier;
}

test('what arrives is signed with the key of its endpoint, over the bytes that arrive', async () => {
  const { received, url } = await receive((response) => response.end());
  const courier = start();
  const other = 'cd'.repeat(32);
  await courier.deliver(letterTo(url));
  await courier.deliver(letterTo(url, { signingKey: new Secret(other), body: '{"b":2}' }));
  for (const [index, key] of [KEY, other].entries()) {
    const { headers, body } = received[index] as Received;
    assert.equal(headers['x-service-signature'], createHmac('sha256', key).update(body).digest('hex'));
    const secret = Buffer.from(key).toString('base64');
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  }
});

test('the answer comes back whole: status, beginning, how long to wait', async () => {
  const { url } = await receive((response) =>
    response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
  );
  const { durationMs, ...answer } = await start().deliver(letterTo(url));
  assert.deepEqual(answer, { kind: 'answered', status: 429, retryAfter: '7', excerpt: 'slow down' });
  assert.ok(durationMs >= 0);
});

test('each of many letters at once gets its own answer', async () => {
  let status = 200;
  const { url } = await receive((response) => response.writeHead(status++).end());
  const courier = start();
  const letters = Array.from({ length: 50 }, (_, n) => letterTo(url, { body: `{"n":${n}}` }));
  const answers = await Promise.all(letters.map((letter) => courier.deliver(letter)));
  const statuses = answers.map((answer) => answer.status ?? 0);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    letters.map((_, n) => 200 + n),
  );
});

test('private addresses stay out of reach unless the letter allows them', async () => {
  const { received, url } = await receive((response) => response.end());
  const answer = await start().deliver(letterTo(url, { allowPrivate: false }));
  assert.equal(answer.kind, 'unreachable');
  assert.deepEqual(received, []);
});

test('when the thread dies its letters are unreachable, it is logged, and the next letter starts another', async () => {
  const courier = start(new URL('./testing/dying-courier.ts', import.meta.url));
  const answers = await Promise.all([
    courier.deliver(letterTo('http://die/')),
    courier.deliver(letterTo('http://x/')),
  ]);
  for (const answer of answers)
    assert.deepEqual(answer, {
      kind: 'unreachable',
      reason: 'the thread that sends has ended',
      durationMs: 0,
    });
  assert.ok(logged.some((line) => line.includes('the thread that sends deliveries has failed')));
  const again = await courier.deliver(letterTo('http://live/'));
  assert.equal(again.status, 204);
});

test('a key is never in what is logged when the thread dies', () => {
  assert.ok(logged.every((line) => !line.includes(KEY)));
});

test('once it is closed, what is under way and what comes after is not delivered', async () => {
  const { received, url } = await receive(() => courier.close());
  const courier = start();
  const answer = await courier.deliver(letterTo(url));
  assert.deepEqual(answer, { kind: 'unreachable', reason: 'the service is stopping', durationMs: 0 });
  assert.deepEqual(await courier.deliver(letterTo(url)), answer);
  assert.equal(received.length, 1);
});

test('closing one that never had a letter starts nothing', async () => {
  await createCourierThread({ log, script: new URL('./nowhere.ts', import.meta.url) }).close();
});
