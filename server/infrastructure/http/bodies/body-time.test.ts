import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createBareServer, listenAnywhere } from '../../../../testing/http-server.ts';
import { limitBodyTime } from './body-time.ts';

/** A body has to come in its time; a route that reads a stream sees to that itself. */
const WITHIN_MS = 50;
const { server } = createBareServer();
limitBodyTime(server, { smallMs: WITHIN_MS, largeMs: 60_000 });
server.post('/read', async ({ body }) => ({ body }));
server.post('/refused', { onRequest: async (_request, reply) => reply.code(403).send({}) }, async () => ({}));
server.post('/streamed', { config: { streamsBody: true } }, async ({ body }) => ({ body }));
server.post('/large', { bodyLimit: 256 * 1024 }, async ({ body }) => ({ body }));
let admit = () => {};
const admitted = new Promise<void>((resolve) => {
  admit = resolve;
});
server.post('/slow', { onRequest: () => admitted }, async ({ body }) => ({ body }));
const port = await listenAnywhere(server);

function begin(path: string, body: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n${body}`,
  );
  return { socket, received: () => received, closed: once(socket, 'close') };
}

test('a body that does not come in time gets 408, and its connection ends', async () => {
  const { closed, received } = begin('/read', '{"a"');
  await closed;
  assert.match(received(), /^HTTP\/1\.1 408 /);
  assert.match(received(), /"message_code":"request_timeout"/);
});

test('whoever was refused and goes on sending is cut off, without a second answer', async () => {
  const { closed, received } = begin('/refused', '{"a"');
  await closed;
  assert.match(received(), /^HTTP\/1\.1 403 /);
  assert.equal(received().match(/HTTP\/1\.1/g)?.length, 1);
});

test('a body that came in time is not bothered later', async () => {
  const { socket, received } = begin('/read', '{"abc": 1}');
  await once(socket, 'data');
  // Far beyond the time, on the same connection: another body that comes too late is the measure of it.
  await begin('/read', '{').closed;
  assert.match(received(), /^HTTP\/1\.1 200 /);
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('where a body is streamed there is no such limit', async () => {
  const { socket, received } = begin('/streamed', '{"a"');
  await begin('/read', '{').closed;
  assert.equal(received(), '');
  socket.write(': 12}\n');
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a body of a route for large ones has more time', async () => {
  const { socket, received } = begin('/large', '{"a"');
  await begin('/read', '{').closed;
  assert.equal(received(), '');
  socket.write(': 12}\n');
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a body that arrived while its caller is being authenticated is not late', async () => {
  const { socket, received } = begin('/slow', '{"abc": 1}');
  await begin('/slow', '{').closed;
  assert.equal(received(), '');
  admit();
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});
