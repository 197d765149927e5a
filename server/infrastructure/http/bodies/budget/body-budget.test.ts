import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  BODY_BUDGET_BYTES,
  beginPost,
  createBareServer,
  listenAnywhere,
  untilTrue,
} from '../../../../../testing/app/http-server.ts';
import { SMALL_BODY_TIMEOUT_MS } from '../../server.ts';
import { limitBodyTime } from '../body-time.ts';
import { createBodyBudget } from './body-budget.ts';

const MEBIBYTE = 1024 ** 2;

const WITHIN_MS = 100;
const { server, bodyBudget } = createBareServer();
const timed = createBareServer();
limitBodyTime(timed.server, { smallMs: WITHIN_MS, largeMs: WITHIN_MS });
const SHARE_BYTES = BODY_BUDGET_BYTES / 4;
for (const { server: target } of [{ server }, timed]) {
  // Stands for authentication.
  target.addHook('onRequest', (request, _reply, done) => {
    const organization = request.headers['x-organization'];
    if (organization !== undefined) request.bodySource = String(organization);
    done();
  });
  const config = { longText: 'data' };
  const options = { bodyLimit: 11 * MEBIBYTE, config, schema: { hide: true } };
  target.post('/large', options, async ({ longText }) => ({ characters: longText?.characters }));
}
server.post('/small', { schema: { hide: true } }, async () => ({}));
/** Later than the tick in which Node continues after a complete body. */
const authenticated = () => setImmediate();
server.post('/slow', { schema: { hide: true }, onRequest: authenticated }, async () => ({}));
const port = await listenAnywhere(server);
const timedPort = await listenAnywhere(timed.server);

for (const [kind, kindBytes, senderBytes] of [
  ['call', 16, 8],
  ['long text', 32, 16],
] as const)
  test(`each ${kind} counts for its caller and for all of its kind`, () => {
    const budget = createBodyBudget({ maxBytes: 64 });
    const shareOf = (key: string) => budget.open({ key, kind });
    const first = shareOf('organization a');
    assert.ok(first.take(senderBytes - 1) && first.take(1));
    assert.equal(first.take(1), false, 'the limit of an Organization');
    assert.equal(shareOf('organization a').take(1), false, 'for all of its requests together');
    first.complete();
    for (let held = senderBytes; held < kindBytes; held += senderBytes) {
      const share = shareOf(`organization ${held}`);
      assert.ok(share.take(senderBytes));
      share.complete();
    }
    assert.equal(shareOf('organization b').take(1), false, 'the rest is for other kinds');
    for (const other of ['anonymous', 'call', 'long text'] as const)
      if (other !== kind) assert.ok(budget.open({ key: 'organization a', kind: other }).take(1 / 4));
    first.release();
    first.release();
    assert.equal(budget.held(), kindBytes - senderBytes + 2 / 4);
    assert.equal(first.take(1), false, 'a released share counts nothing');
    assert.ok(shareOf('organization b').take(senderBytes));
  });

test('Organizations with open bodies do not block another one or the operator', () => {
  const budget = createBodyBudget({ maxBytes: 64 });
  const shed: string[] = [];
  for (const key of ['organization a', 'organization b']) {
    const share = budget.open({ key, kind: 'call' });
    share.whenShed(() => shed.push(key));
    assert.ok(share.take(8));
  }
  for (const key of ['organization c', 'operator']) assert.ok(budget.open({ key, kind: 'call' }).take(1));
  assert.deepEqual(shed, ['organization a'], 'one body was shed for both');
});

function begin(sentBytes: number, organization: string, at = port) {
  const headers = { 'x-organization': organization, 'content-length': 11 * MEBIBYTE };
  return beginPost(at, '/large', headers, `{"data":"${'A'.repeat(sentBytes)}`);
}

test('a body over the limit of its Organization gets 503, and that of another Organization does not', async () => {
  const held = [begin(10 * MEBIBYTE, 'a'), begin(5 * MEBIBYTE, 'a')];
  await untilTrue(() => bodyBudget.held() >= 15 * MEBIBYTE);
  const refused = begin(MEBIBYTE, 'a');
  await refused.closed;
  assert.match(refused.received(), /^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*"message_code":"overloaded"/s);
  held.push(begin(10 * MEBIBYTE, 'b'));
  await untilTrue(() => bodyBudget.held() >= 25 * MEBIBYTE);
  for (const { socket } of held) socket.destroy();
  await untilTrue(() => bodyBudget.held() === 0);
});

test('a declared length counts nothing', async () => {
  const waiting = Array.from({ length: 20 }, () => begin(0, 'a'));
  await untilTrue(() => bodyBudget.held() > 0);
  assert.ok(bodyBudget.held() < MEBIBYTE, String(bodyBudget.held()));
  for (const { socket } of waiting) socket.destroy();
  await untilTrue(() => bodyBudget.held() === 0);
});

test('the share is released when a request is answered, rejected, aborted or timed out', async () => {
  const data = 'A'.repeat(MEBIBYTE);
  const headers = { 'content-type': 'application/json', 'x-organization': 'a' };
  for (const payload of [`{"data":"${data}"}`, `{"data":"${data}`, `{"data":"${data}","x":[[[`, `${data}`])
    await server.inject({ method: 'POST', url: '/large', headers, payload });
  assert.equal(bodyBudget.held(), 0);
  const url = `http://127.0.0.1:${port}/large`;
  const answered = await fetch(url, { method: 'POST', headers, body: `{"data":"${data}"}` });
  assert.deepEqual(await answered.json(), { characters: MEBIBYTE });
  await untilTrue(() => bodyBudget.held() === 0);
  const late = begin(MEBIBYTE, 'a', timedPort);
  await late.closed;
  assert.match(late.received(), /^HTTP\/1\.1 408 /);
  await untilTrue(() => timed.bodyBudget.held() === 0);
  assert.ok(SHARE_BYTES > 11 * MEBIBYTE);
});

test('a body in too many small chunks is rejected, and an unread one is not buffered', async () => {
  const head =
    'HTTP/1.1\r\nHost: x\r\nX-Organization: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const inPieces = (path: string, pieces: number) => `POST ${path} ${head}${'1\r\n \r\n'.repeat(pieces)}`;
  for (const [sent, expected] of [
    [inPieces('/large', 3_000), /^HTTP\/1\.1 400 .*\r\nconnection: close\r\n.*too many small chunks/s],
    [inPieces('/small', 33), /^HTTP\/1\.1 400 .*\r\nconnection: close\r\n.*too many small chunks/s],
    [inPieces('/absent', 3_000), /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n/s],
  ] as const) {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(sent);
    await closed;
    assert.match(received, expected);
  }
});

test('the rest of a rejected body is not read before its response is sent', async () => {
  const { server: target } = createBareServer();
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let bytesRead: (() => number) | undefined;
  await target.register(async (scope) => {
    // Delays like a session lookup: the first chunks wait and are rejected when they are read.
    scope.addHook('onRequest', () => setImmediate());
    scope.setErrorHandler(async (_error, { raw }, reply) => {
      bytesRead = () => raw.socket.bytesRead;
      await isAnswered;
      return reply.code(400).send();
    });
    scope.post('/small', async () => ({}));
  });
  const at = await listenAnywhere(target);
  const socket = connect(at, '127.0.0.1').on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const head = 'Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.resume().write(`POST /small HTTP/1.1\r\n${head}${'1\r\n \r\n'.repeat(400_000)}`);
  await untilTrue(() => bytesRead !== undefined);
  // Other calls are served meanwhile, so the event loop had turns in which it could have read the rest.
  for (let call = 0; call < 10; call += 1) await (await fetch(`http://127.0.0.1:${at}/absent`)).text();
  assert.ok(Number(bytesRead?.()) <= 64 * 1024, String(bytesRead?.()));
  answer();
  await closed;
});

test('a body that arrived completely leaves its connection usable or closed', async () => {
  const chunked = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const whole = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const tooDeep = '['.repeat(100);
  for (const first of [
    chunked('/absent', '{}'),
    chunked('/small', '{}'),
    chunked('/small', tooDeep),
    chunked('/small', '{'),
    chunked('/slow', '{}'),
    chunked('/slow', '{'),
    whole('/absent', '{}'),
    whole('/small', tooDeep),
    whole('/small', '{'),
  ]) {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    socket.on('error', () => {});
    let isClosed = false;
    socket.once('close', () => {
      isClosed = true;
    });
    socket.write(first);
    await untilTrue(() => received.includes('\r\n\r\n'));
    socket.write(whole('/small', '{}'));
    await untilTrue(() => isClosed || received.split('HTTP/1.1 ').length === 3);
    socket.destroy();
  }
});

test('a body without a route is read no longer than that of a route', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { closed, received, socket } = beginPost(
    port,
    '/absent',
    { 'content-length': 1_000_000, connection: 'close' },
    '{"a"',
  );
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 404 /);
  t.mock.timers.tick(SMALL_BODY_TIMEOUT_MS);
  await closed;
});

test('a client that reads the response only after sending a rejected body receives it', async (t) => {
  // A slow machine may take longer to send the body than a rejected body is read.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const body = Buffer.alloc(8 * MEBIBYTE);
  for (const [path, status] of [
    ['/small', 413],
    ['/absent', 404],
  ] as const)
    for (const connection of ['close', 'keep-alive']) {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      const fields = `Host: x\r\nConnection: ${connection}\r\nContent-Type: application/json\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n`);
      await new Promise<void>((resolve, reject) => socket.once('error', reject).write(body, () => resolve()));
      if (connection === 'keep-alive')
        socket.write('GET /absent HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const responses = (await text(socket)).split('HTTP/1.1 ').slice(1);
      assert.match(String(responses[0]), new RegExp(`^${status} .*"message_code"`, 's'));
      assert.equal(responses.length, connection === 'close' ? 1 : 2);
    }
});
