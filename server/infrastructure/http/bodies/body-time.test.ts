import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { beginPost, createBareServer, listenAnywhere } from '../../../../testing/app/http-server.ts';
import { limitBodyTime } from './body-time.ts';

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
  return beginPost(port, path, { 'content-length': 10 }, body);
}

test('a body that does not arrive in time gets 408, and its connection is closed', async () => {
  const { closed, received } = begin('/read', '{"a"');
  await closed;
  assert.match(received(), /^HTTP\/1\.1 408 /);
  assert.match(received(), /"message_code":"request_timeout"/);
});

test('a rejected client that keeps sending is disconnected without a second response', async () => {
  const { closed, received } = begin('/refused', '{"a"');
  await closed;
  assert.match(received(), /^HTTP\/1\.1 403 /);
  assert.equal(received().match(/HTTP\/1\.1/g)?.length, 1);
});

test('the timeout of a complete body has no later effect', async () => {
  const { socket, received } = begin('/read', '{"abc": 1}');
  await once(socket, 'data');
  // A second body on the same connection runs into its own timeout, which shows that the first one has passed.
  await begin('/read', '{').closed;
  assert.match(received(), /^HTTP\/1\.1 200 /);
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('a route that streams its body has no such timeout', async () => {
  const { socket, received } = begin('/streamed', '{"a"');
  await begin('/read', '{').closed;
  assert.equal(received(), '');
  socket.write(': 12}\n');
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a route with a large body limit has more time', async () => {
  const { socket, received } = begin('/large', '{"a"');
  await begin('/read', '{').closed;
  assert.equal(received(), '');
  socket.write(': 12}\n');
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a complete body does not time out while its caller is being authenticated', async () => {
  const { socket, received } = begin('/slow', '{"abc": 1}');
  await begin('/slow', '{').closed;
  assert.equal(received(), '');
  admit();
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1\.1 200 /);
  socket.destroy();
});
