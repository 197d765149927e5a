import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { mock, test } from 'node:test';
import { assertError } from '../../../testing/app/app.ts';
import { createBareServer, exchange, listenAnywhere } from '../../../testing/app/http-server.ts';
import { Overloaded } from '../runtime/batcher.ts';
import { GuidParams } from './requests/schemas.ts';

/** Tests over a real socket, and headers of every response. */
const hidden = { schema: { hide: true } };

async function refusal(port: number, text: string) {
  const { status, headers, text: body } = await exchange(port, text);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
  return { status, headers, body: JSON.parse(body) as Record<string, unknown> };
}

// The time to read the response of a broken request does not pass.
mock.timers.enable({ apis: ['setTimeout'] });
const { server, logged } = createBareServer();
server.get('/things', hidden, async () => ({ thing: 1 }));
server.post('/things', hidden, async (request) => ({ got: request.body }));
server.get('/broken', hidden, async () => {
  throw new Error('the table password_hashes is on fire');
});
server.get('/overloaded', hidden, async () => {
  throw new Overloaded('too many calls wait');
});
server.get('/refused-value', hidden, async () => {
  throw Object.assign(new Error('invalid input syntax for type uuid'), { code: '22P02', severity: 'ERROR' });
});
let linesRead = 0;
async function* readLines() {
  for (; linesRead < 3; linesRead += 1) yield `${linesRead}\n`;
}
server.get('/lines', hidden, (_request, reply) => reply.type('text/csv').send(Readable.from(readLines())));
server.get('/begun', hidden, (_request, reply) => {
  const stream = new Readable({ read() {} });
  stream.push('the first part');
  return reply.send(stream);
});
server.get('/unchanged', hidden, (_request, reply) => reply.code(304).send());
server.get('/named/:guid', { schema: { hide: true, params: GuidParams } }, async () => ({}));
const port = await listenAnywhere(server);

test('a request that is not HTTP gets an error body of the contract', async () => {
  for (const text of [
    'nonsense\r\n\r\n',
    'GET /things HTTP/9.9\r\n\r\n',
    'GET /things HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
  ])
    assertError(await refusal(port, text), 400, 'invalid_parameter');
});

/** Sends the second text when the response to the first one begins; returns the statuses of both responses. */
async function statusesOf(first: string, second: string): Promise<number[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.write(first);
  await once(socket, 'data');
  socket.end(second);
  await once(socket, 'close');
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}

test('a broken request gets its error on a connection with earlier responses too', async () => {
  const valid = 'GET /things HTTP/1.1\r\nHost: x\r\n\r\n';
  const large = `GET /things HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(16 * 1024)}\r\n\r\n`;
  const chunked = 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  assert.deepEqual(await statusesOf(valid, large), [200, 431]);
  assert.deepEqual(await statusesOf(valid, 'nonsense\r\n\r\n'), [200, 400]);
  assert.deepEqual(await statusesOf(valid, `${chunked}Transfer-Encoding: chunked\r\n\r\nzz\r\n`), [200, 400]);
});

test('a broken request gets no error in the middle of another exchange', async () => {
  const begun = 'GET /begun HTTP/1.1\r\nHost: x\r\n\r\n';
  assert.deepEqual(await statusesOf(begun, 'nonsense\r\n\r\n'), [200]);
  const refused =
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n';
  assert.deepEqual(await statusesOf(refused, 'a part of the body'), [413]);
});

test('too many waiting calls get 503 with Retry-After', async () => {
  const answer = await refusal(port, 'GET /overloaded HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assertError(answer, 503, 'overloaded', /changed nothing/);
  assert.equal(answer.headers['retry-after'], '1');
});

test('a request without a valid Host is rejected, and HTTP/1.0 needs none', async () => {
  for (const host of [
    '',
    'Host:\r\n',
    'Host: [\r\n',
    'Host: a b\r\n',
    'Host: 1.2.3.999\r\n',
    'Host: a\r\nHost: b\r\n',
  ])
    assertError(
      await refusal(port, `GET /things HTTP/1.1\r\n${host}Connection: close\r\n\r\n`),
      400,
      'invalid_parameter',
      /Host/,
    );
  const { status } = await exchange(port, 'GET /things HTTP/1.0\r\n\r\n');
  assert.equal(status, 200);
});

test('headers over 16 KiB are rejected', async () => {
  const ask = (bytes: number) =>
    exchange(
      port,
      `GET /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ${'a'.repeat(bytes)}\r\n\r\n`,
    );
  assert.equal((await ask(15 * 1024)).status, 200);
  const { status, headers, text } = await ask(16 * 1024);
  assertError({ status, headers, body: JSON.parse(text) }, 431, 'headers_too_large');
});

test('a token of 1 MB is malformed, and a client that sends it completely can read the response', async () => {
  for (const bytes of [20 * 1024, 1024 ** 2]) {
    const request = `GET /things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(bytes)}\r\n\r\n`;
    assertError(await refusal(port, request), 401, 'authentication_malformed');
  }
});

test('10,000 forwarded hops exceed the header limit', async () => {
  const hops = Array.from({ length: 10_000 }, () => '198.35.26.96').join(', ');
  const request = `GET /things HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${hops}\r\n\r\n`;
  assertError(await refusal(port, request), 431, 'headers_too_large');
});

test('a body over the limit is rejected even without a Content-Length', async () => {
  const chunk = `10000\r\n"${'a'.repeat(0xffff)}\r\n`;
  const head = 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n';
  const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`;
  assertError(await refusal(port, sent), 413, 'payload_too_large');
});

test('an unknown expectation is ignored, and the response has a request id', async () => {
  const { status, headers } = await exchange(
    port,
    'GET /things HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n',
  );
  assert.equal(status, 200);
  assert.match(String(headers['x-request-id']), /^[0-9a-f]{32}$/);
});

test('an invalid percent-encoded path is rejected with all headers', async () => {
  for (const path of ['/%', '/%zz', '/things/%ff', '/%c3%28'])
    assertError(
      await refusal(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
      400,
      'invalid_parameter',
    );
});

test('an internal error shows no details and is logged under the same request id', async () => {
  const answer = await server.inject('/broken');
  const { headers, statusCode: status } = answer;
  assertError({ status, headers, body: answer.json() }, 500, 'internal_error');
  assert.doesNotMatch(answer.body, /password_hashes|Error|\.ts/);
  const entry = logged.map((line) => JSON.parse(line)).find((line) => line.msg === 'internal error');
  assert.equal(entry.request_id, headers['x-request-id']);
  assert.match(entry.err.message, /password_hashes/);
  assert.match(entry.err.stack, /server\.test\.ts/);
});

test('every response has the security headers and none has an ETag', async () => {
  for (const url of ['/things', '/broken', '/absent', '/%']) {
    const { headers } = await server.inject(url);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    assert.match(String(headers['x-request-id']), /^[0-9a-f]{32}$/);
    assert.deepEqual([headers.etag, headers['strict-transport-security']], [undefined, undefined]);
  }
});

test('an https service sends Strict-Transport-Security', async () => {
  const { headers } = await createBareServer({ baseUrl: 'https://api.example.com' }).server.inject('/');
  assert.match(String(headers['strict-transport-security']), /max-age=\d{8}/);
});

test('HEAD returns the headers of GET without the body', async () => {
  const { status, headers, text } = await exchange(
    port,
    'HEAD /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  assert.deepEqual([status, headers['content-length'], text], [200, '11', '']);
});

test('HEAD reads nothing of a stream', async () => {
  const { status, headers, text } = await exchange(
    port,
    'HEAD /lines HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  assert.deepEqual([status, text, linesRead], [200, '', 0]);
  assert.match(String(headers['content-type']), /^text\/csv/);
  assert.equal(headers['content-length'], undefined);
});

test('a 304 to HEAD has no Content-Length', async () => {
  const { statusCode, headers } = await server.inject({ method: 'HEAD', url: '/unchanged' });
  assert.deepEqual([statusCode, headers['content-length']], [304, undefined]);
});

test('a path parameter of any length reaches its route and is not logged', async () => {
  const long = 'x'.repeat(10_000);
  const { statusCode } = await server.inject(`/named/${long}`);
  assert.equal(statusCode, 404);
  assert.ok(logged.every((line) => !line.includes('xxxxxxxxxx')));
});

test('a value that the database rejects gets 400 and is logged as an error', async () => {
  const answer = await server.inject('/refused-value');
  const { headers, statusCode: status } = answer;
  assertError({ status, headers, body: answer.json() }, 400, 'invalid_parameter', /cannot be stored/);
  const entry = logged.map((line) => JSON.parse(line)).find((line) => /rejected a value/.test(line.msg));
  assert.equal(entry.request_id, headers['x-request-id']);
});

test('a connection without traffic is closed after two minutes, also with an unread response', () => {
  const { timeout, keepAliveTimeout, requestTimeout } = server.server;
  assert.deepEqual([timeout, keepAliveTimeout, requestTimeout], [120_000, 72_000, 3_600_000]);
});
