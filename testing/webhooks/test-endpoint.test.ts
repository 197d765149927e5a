import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import {
  type Answer,
  type Behaviour,
  createTestEndpoint,
  drip,
  hold,
  refusing,
  type TestEndpoint,
} from './test-endpoint.ts';

const MEGABYTE = 1024 * 1024;

/** Proves nothing about anybody: made for 127.0.0.1 and for this file alone. */
const TLS = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4x6XgH8NDRAJ/D++
6AIYntj/zsxzN0W4y+VJnWD2XNWhRANCAAS3KnAVbBTNVP5rVfNnqx+z4dto8X13
xTpvJRglsU0/6pQ1lpaweKqoIBkCMUDeonF3VZ0Dq1WhhIICJq2+a7gS
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLcqcBVsFM1U/mtV
82erH7Ph22jxfXfFOm8lGCWxTT/qlDWWlrB4qqggGQIxQN6icXdVnQOrVaGEggIm
rb5ruBKjTjBMMBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBRqrvQvZitkkciKRXcbyA5rp/vUAzAKBggqhkjOPQQD
AgNIADBFAiEA4lglEjfCDCSR1OXl7HJJBYF1kAch+NN9eRFIJ4dwP1UCIFGeTTxr
ECgQhWAinzX5PGemjer/k1+QGRuFQp82me1A
-----END CERTIFICATE-----
`,
};

async function receiverThat(behaviour: Behaviour): Promise<TestEndpoint> {
  const receiver = await createTestEndpoint();
  receiver.behave(behaviour);
  return receiver;
}

/** A request whose response is read by hand, to see what happens between its parts. */
async function open(url: string, options: https.RequestOptions = {}): Promise<http.IncomingMessage> {
  const request = (url.startsWith('https:') ? https : http).get(url, { agent: false, ...options });
  const [response] = await once(request, 'response');
  // What breaks from here on is told by the response as well.
  request.on('error', () => {});
  return response;
}

function failsWith(code: string): (error: Error & { code?: string; cause?: { code?: string } }) => boolean {
  return (error) => {
    assert.equal(error.cause?.code ?? error.code, code);
    return true;
  };
}

test('records what arrived, byte for byte and in order, and answers 204', async () => {
  const receiver = await createTestEndpoint();
  const body = Buffer.from([0x00, 0xff, 0x0d, 0x0a, 0x80]);
  const response = await fetch(`${receiver.url}/hook?a=%20`, {
    method: 'POST',
    body,
    headers: { 'X-Event': 'e1' },
  });
  assert.equal(response.status, 204);
  await fetch(`${receiver.url}/second`);
  const [first, second] = receiver.received;
  assert.deepEqual([first?.method, first?.path, first?.headers['x-event']], ['POST', '/hook?a=%20', 'e1']);
  assert.deepEqual(first?.body, body);
  assert.deepEqual([second?.method, second?.path, second?.body.length], ['GET', '/second', 0]);
});

test('waits for a count, for those to come and those already there', async () => {
  const receiver = await createTestEndpoint();
  const both = receiver.waitForCount(2);
  await Promise.all([fetch(receiver.url), fetch(receiver.url), both]);
  assert.equal(receiver.received.length, 2);
  await receiver.waitForCount(1);
});

test('a wait ends with a reason when its time is over or the receiver closes', async () => {
  const receiver = await createTestEndpoint();
  await assert.rejects(receiver.waitForCount(1, 1), { message: 'waited 1 ms: 0 of 1 requests arrived' });
  const waiting = assert.rejects(receiver.waitForCount(3), /the receiver closed: 0 of 3 requests arrived/);
  await receiver.close();
  await waiting;
  await assert.rejects(receiver.waitForCount(1), /the receiver closed: 0 of 1 requests arrived/);
});

test('a request that its sender gives up half-way has not arrived', async () => {
  const receiver = await createTestEndpoint();
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
  socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf');
  await once(socket.resume(), 'close');
  assert.equal(receiver.received.length, 0);
});

test('answers as told, by a function of the request too', async () => {
  const receiver = await createTestEndpoint();
  const refusal: Answer = { status: 503, headers: { 'retry-after': '7' }, body: 'later' };
  receiver.behave((nth, request) =>
    nth === 1 ? { kind: 'answer', ...refusal } : { kind: 'answer', body: `${nth} ${request.path}` },
  );
  const first = await fetch(receiver.url);
  assert.deepEqual([first.status, first.headers.get('retry-after'), await first.text()], [503, '7', 'later']);
  const second = await fetch(`${receiver.url}/again`);
  assert.deepEqual([second.status, await second.text()], [200, '2 /again']);
});

test('hold: answers when released, and no longer holds from then on', async () => {
  const held = hold();
  const receiver = await receiverThat(held);
  const answers: number[] = [];
  const call = fetch(receiver.url).then(({ status }) => answers.push(status));
  await receiver.waitForCount(1);
  // A whole exchange passes on another connection: an answer that did not wait would be here by now.
  receiver.behave({ kind: 'answer' });
  await fetch(receiver.url);
  assert.deepEqual(answers, []);
  held.release({ status: 201 });
  await call;
  assert.deepEqual(answers, [201]);
  receiver.behave(held);
  assert.equal((await fetch(receiver.url)).status, 201);
});

test('hang: no answer, until the sender leaves', async () => {
  const receiver = await receiverThat({ kind: 'hang' });
  const patience = new AbortController();
  const call = assert.rejects(fetch(receiver.url, { signal: patience.signal }), { name: 'AbortError' });
  await receiver.waitForCount(1);
  patience.abort();
  await call;
  await receiver.received[0]?.connectionClosed;
});

test('reset: the connection breaks before an answer', async () => {
  const receiver = await receiverThat({ kind: 'reset' });
  await assert.rejects(open(receiver.url), failsWith('ECONNRESET'));
  assert.equal(receiver.received.length, 1);
});

test('resetMidResponse: the connection breaks after the headers', async () => {
  const receiver = await receiverThat({ kind: 'resetMidResponse' });
  const response = await open(receiver.url);
  assert.equal(response.statusCode, 200);
  await assert.rejects(text(response), failsWith('ECONNRESET'));
});

test('drip: one byte per step, then the end', async () => {
  const dripping = drip('abc');
  const response = await open((await receiverThat(dripping)).url);
  const arriving = response[Symbol.asyncIterator]();
  for (const byte of 'abc') {
    assert.equal(dripping.next(), byte !== 'c');
    assert.equal(String((await arriving.next()).value), byte);
  }
  assert.equal((await arriving.next()).done, true);
  assert.equal(dripping.next(), false);
});

test('drip: goes on when a sender has left, and the next one gets what fell before', async () => {
  const dripping = drip('ab');
  const receiver = await receiverThat(dripping);
  (await open(receiver.url)).destroy();
  await receiver.received[0]?.connectionClosed;
  dripping.next();
  const second = await open(receiver.url);
  dripping.next();
  assert.equal(await text(second), 'ab');
});

test('endless: flows while the peer reads, and stops when the peer leaves', async () => {
  const receiver = await receiverThat({ kind: 'endless' });
  const response = await open(receiver.url);
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > 4 * MEGABYTE) break;
  }
  await receiver.received[0]?.connectionClosed;
});

test('endless: a sender that never stops reading is cut off', async () => {
  const response = await open((await receiverThat({ kind: 'endless' })).url);
  await assert.rejects(once(response.resume(), 'end'), failsWith('ECONNRESET'));
});

test('hugeHeaders: as large as asked', async () => {
  const { url } = await receiverThat({ kind: 'hugeHeaders', bytes: MEGABYTE });
  await assert.rejects(open(url), failsWith('HPE_HEADER_OVERFLOW'));
  const response = await open(url, { maxHeaderSize: 2 * MEGABYTE });
  assert.equal(response.headers['x-padding']?.length, MEGABYTE);
});

test('redirect: to the given place, with the given status', async () => {
  const receiver = await receiverThat({ kind: 'redirect', location: 'http://10.0.0.1/' });
  const found = await fetch(receiver.url, { redirect: 'manual' });
  assert.deepEqual([found.status, found.headers.get('location')], [302, 'http://10.0.0.1/']);
  receiver.behave({ kind: 'redirect', location: '/', status: 308 });
  assert.equal((await fetch(receiver.url, { redirect: 'manual' })).status, 308);
});

test('garbage: not HTTP', async () => {
  const receiver = await receiverThat({ kind: 'garbage' });
  await assert.rejects(open(receiver.url), failsWith('HPE_INVALID_CONSTANT'));
  receiver.behave({ kind: 'garbage', bytes: Buffer.from([0x16, 0x03]) });
  await assert.rejects(open(receiver.url), failsWith('HPE_INVALID_CONSTANT'));
});

test('refusing: nothing listens there', async () => {
  await assert.rejects(fetch(await refusing()), failsWith('ECONNREFUSED'));
});

test('TLS: with the given key and certificate, and with the same faults', async () => {
  const receiver = await createTestEndpoint({ tls: TLS });
  await assert.rejects(open(receiver.url), failsWith('DEPTH_ZERO_SELF_SIGNED_CERT'));
  assert.equal((await open(receiver.url, { ca: TLS.cert })).statusCode, 204);
  receiver.behave({ kind: 'reset' });
  await assert.rejects(open(receiver.url, { ca: TLS.cert }), failsWith('ECONNRESET'));
  receiver.behave({ kind: 'resetMidResponse' });
  await assert.rejects(text(await open(receiver.url, { ca: TLS.cert })), failsWith('ECONNRESET'));
  assert.equal(receiver.received.length, 3);
});

test('close: ends every open connection, and can be repeated', async () => {
  const receiver = await receiverThat({ kind: 'hang' });
  const silent = connect(Number(new URL(receiver.url).port), '127.0.0.1');
  await once(silent, 'connect');
  const call = assert.rejects(open(receiver.url), failsWith('ECONNRESET'));
  await receiver.waitForCount(1);
  await Promise.all([receiver.close(), once(silent.resume(), 'close'), call]);
  await receiver.close();
  await assert.rejects(fetch(receiver.url), failsWith('ECONNREFUSED'));
});

test('after its test: no request arrives, and no other endpoint gets the port', async (t) => {
  let past: TestEndpoint | undefined;
  await t.test('its test', async () => {
    past = await createTestEndpoint();
  });
  assert.ok(past);
  await assert.rejects(open(past.url), failsWith('ECONNRESET'));
  assert.equal(past.received.length, 0);
});

test('a runaway sender is cut off at the limit', async () => {
  const receiver = await createTestEndpoint({ maxReceived: 1 });
  await open(receiver.url);
  await assert.rejects(open(receiver.url), failsWith('ECONNRESET'));
  assert.equal(receiver.received.length, 1);
});
