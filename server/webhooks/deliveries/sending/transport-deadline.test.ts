import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { createTestEndpoint, drip, hold } from '../../../../testing/webhooks/test-endpoint.ts';
import { createPosting, named } from '../testing/posting.ts';
import { EXCHANGE_TIMEOUT_MS } from './exchange.ts';

const NO_RESPONSE = {
  kind: 'timeout',
  reason: 'no response within 10 seconds',
  durationMs: EXCHANGE_TIMEOUT_MS,
};

/** Resolves at the next undici event: the data sent by the endpoint has been read by then. */
function next(event: 'headers' | 'bodyChunkReceived'): Promise<void> {
  const name = `undici:request:${event}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = () => {
    unsubscribe(name, listener);
    resolve();
  };
  subscribe(name, listener);
  return promise;
}

test('a response after 9.9 s counts', async () => {
  const endpoint = await createTestEndpoint();
  const held = hold();
  endpoint.behave(held);
  const { clock, post } = createPosting();
  const answer = post(endpoint.url);
  await endpoint.waitForCount(1);
  clock.advance(9_900);
  held.release({ status: 202 });
  const expected = { kind: 'answered', status: 202, retryAfter: undefined, excerpt: '', durationMs: 9_900 };
  assert.deepEqual(await answer, expected);
  assert.equal(clock.waiting(), 0);
});

test('a response after 10.1 s is too late: timeout at 10 s, and the connection is closed', async () => {
  const endpoint = await createTestEndpoint();
  const held = hold();
  endpoint.behave(held);
  const { clock, post } = createPosting();
  const answer = post(endpoint.url);
  await endpoint.waitForCount(1);
  clock.advance(10_100);
  held.release();
  assert.deepEqual(await answer, NO_RESPONSE);
  await endpoint.received[0]?.connectionClosed;
  assert.equal(clock.waiting(), 0);
});

test('one byte per second: timeout at 10 s, with the status and the partial body', async () => {
  const endpoint = await createTestEndpoint();
  const dripping = drip('one byte a second');
  endpoint.behave(dripping);
  const { clock, post } = createPosting();
  let read = next('headers');
  const answer = post(endpoint.url);
  await read;
  for (let second = 1; second <= 10; second++) {
    read = next('bodyChunkReceived');
    dripping.next();
    await read;
    clock.advance(1_000);
  }
  const begun = { status: 200, excerpt: 'one byte a' };
  assert.deepEqual(await answer, {
    ...NO_RESPONSE,
    reason: 'the response was not complete within 10 seconds',
    ...begun,
  });
  await endpoint.received[0]?.connectionClosed;
});

test('a resolver that never answers: timeout at 10 s', async () => {
  const { clock, post } = createPosting(() => new Promise(() => {}));
  const answer = post('http://partner.test/');
  clock.advance(EXCHANGE_TIMEOUT_MS);
  assert.deepEqual(await answer, NO_RESPONSE);
});

test('a resolver that answers after the timeout: no connection is made', async () => {
  const endpoint = await createTestEndpoint();
  const resolved = Promise.withResolvers<string[]>();
  const { clock, post } = createPosting(() => resolved.promise);
  const answer = post(named(endpoint.url));
  clock.advance(EXCHANGE_TIMEOUT_MS);
  assert.deepEqual(await answer, NO_RESPONSE);
  resolved.resolve(['127.0.0.1']);
  // By the end of a whole exchange an earlier connection would have shown.
  await createPosting().post(endpoint.url);
  assert.equal(endpoint.received.length, 1);
});

test('an endpoint that never completes the TLS handshake: timeout at 10 s, and the connection is closed', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const { clock, post } = createPosting();
  const connected = once(silent, 'connection');
  const answer = post(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  const [socket] = await connected;
  clock.advance(EXCHANGE_TIMEOUT_MS);
  assert.deepEqual(await answer, NO_RESPONSE);
  socket.resume();
  await once(socket, 'close');
});

test('after a timeout the next exchange gets a connection of its own', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave((nth) => (nth === 1 ? { kind: 'hang' } : { kind: 'answer' }));
  const { clock, post } = createPosting();
  const late = post(endpoint.url);
  await endpoint.waitForCount(1);
  clock.advance(EXCHANGE_TIMEOUT_MS);
  assert.equal((await late).kind, 'timeout');
  assert.equal((await post(endpoint.url)).status, 204);
});
