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
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import { until } from '../../../../testing/webhooks.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Mood } from '../testing/moody-courier.ts';
import { EXCHANGE_TIMEOUT_MS } from './exchange.ts';
import type { Letter } from './sender.ts';
import { createCourierThread } from './sender-thread.ts';

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
  const clock = createFakeClock();
  const courier = createCourierThread({ clock, timers: clock, log, script });
  after(() => courier.close());
  return { ...courier, clock };
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

const MOODY = new URL('../testing/moody-courier.ts', import.meta.url);
const setMood = (mood: Mood) => setEnvironmentData('mood', mood);
const deaths = () => logged.filter((line) => line.includes('another one takes over')).length;
/** A moment after a thread has died the next one may start. */
const START_AGAIN_MS = 1_000;

test('when the thread dies another delivers what it had, after a moment', async () => {
  setMood('deadly');
  const { clock, deliver } = start(MOODY);
  const before = deaths();
  const answers = [deliver(letterTo('http://a/')), deliver(letterTo('http://b/'))];
  await until(() => deaths() > before);
  setMood('well');
  answers.push(deliver(letterTo('http://c/')));
  clock.advance(START_AGAIN_MS);
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 204);
  assert.ok(logged.some((line) => line.includes('as if by a bug')));
});

test('what two threads have died with is unreachable, what came later is not', async () => {
  setMood('deadly');
  const { clock, deliver } = start(MOODY);
  const before = deaths();
  const deadly = deliver(letterTo('http://a/'));
  await until(() => deaths() > before);
  clock.advance(START_AGAIN_MS);
  await until(() => deaths() > before + 1);
  assert.deepEqual(await deadly, { kind: 'unreachable', reason: 'it could not be sent', durationMs: 0 });
  setMood('well');
  const later = deliver(letterTo('http://a/'));
  clock.advance(START_AGAIN_MS);
  assert.equal((await later).status, 204);
});

test('a thread that says nothing for three times as long as an exchange may take is replaced', async () => {
  setMood('silent');
  const { clock, deliver } = start(MOODY);
  const before = deaths();
  const answer = deliver(letterTo('http://a/'));
  await turn();
  clock.advance(3 * EXCHANGE_TIMEOUT_MS - 1);
  await turn();
  assert.equal(deaths(), before);
  clock.advance(1);
  await until(() => deaths() > before);
  setMood('well');
  clock.advance(START_AGAIN_MS);
  assert.equal((await answer).status, 204);
});

test('a letter at which the courier itself fails is unreachable and logged, and the others go on', async () => {
  const { url } = await receive((response) => response.end());
  const { deliver } = start();
  const unsignable = letterTo(url, { body: undefined as unknown as string });
  const [faulty, good] = await Promise.all([deliver(unsignable), deliver(letterTo(url))]);
  assert.equal(faulty.kind, 'unreachable');
  assert.equal(good.status, 200);
  assert.ok(logged.some((line) => line.includes('a delivery could not be sent')));
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
  await start(new URL('./nowhere.ts', import.meta.url)).close();
});
