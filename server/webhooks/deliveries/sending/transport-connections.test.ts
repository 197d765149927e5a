import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestEndpoint, hold, type TestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import { createPosting, named, resolveHere } from '../testing/posting.ts';
import { CONNECTION_LIFETIME_MS, createPools, MAX_IDLE_POOLS } from './connection-pools.ts';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

/** Answers every packet without a keep-alive hint; the test controls its connections. */
async function createBareEndpoint(response = NO_CONTENT) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('data', () => socket.write(response)).on('error', () => {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

function connectionsOf(endpoint: TestEndpoint): number {
  return new Set(endpoint.received.map((request) => request.connectionClosed)).size;
}

/** undici uses Node's timers for idle connections. */
function freezeTimers(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
}

test('sequential exchanges share a connection, and the name is resolved once', async () => {
  const endpoint = await createTestEndpoint();
  let resolved = 0;
  const { post } = createPosting(async () => {
    resolved++;
    return ['127.0.0.1'];
  });
  for (let nth = 0; nth < 20; nth++) assert.equal((await post(named(endpoint.url))).status, 204);
  assert.equal(connectionsOf(endpoint), 1);
  assert.equal(resolved, 1);
});

test('DNS rebinding: the name is resolved once per exchange, and a later address is not used', async () => {
  const endpoint = await createTestEndpoint();
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  const { post } = createPosting(async () => answers.shift() ?? []);
  assert.equal((await post(named(endpoint.url))).status, 204);
  assert.deepEqual(answers, [['127.0.0.2']]);
});

test('concurrent exchanges have a connection each, so a slow one delays no other', async () => {
  const endpoint = await createTestEndpoint();
  const held = hold();
  endpoint.behave((_nth, { path }) => (path === '/slow' ? held : { kind: 'answer' }));
  const { post } = createPosting();
  const slow = Array.from({ length: 50 }, () => post(`${endpoint.url}/slow`));
  await endpoint.waitForCount(50);
  for (let nth = 0; nth < 5; nth++) assert.equal((await post(`${endpoint.url}/quick`)).status, 204);
  assert.equal(connectionsOf(endpoint), 51);
  held.release({ status: 200 });
  for (const answer of await Promise.all(slow)) assert.equal(answer.status, 200);
});

for (const how of ['end', 'resetAndDestroy'] as const) {
  test(`a connection that the endpoint closed (${how}) is replaced`, async () => {
    const endpoint = await createBareEndpoint();
    const { post } = createPosting();
    assert.equal((await post(endpoint.url)).status, 204);
    const [first] = endpoint.sockets;
    assert.ok(first);
    const closed = once(first, 'close');
    first[how]();
    await closed;
    assert.equal((await post(endpoint.url)).status, 204);
    assert.equal(endpoint.sockets.length, 2);
  });
}

test('a reset after the request was sent does not resend it, even on a reused connection', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave((nth) => ({ kind: nth === 1 ? 'answer' : 'reset' }));
  const { post } = createPosting();
  assert.equal((await post(endpoint.url)).status, 204);
  assert.deepEqual(await post(endpoint.url), {
    kind: 'unreachable',
    reason: 'connection reset',
    durationMs: 0,
  });
  assert.equal(endpoint.received.length, 2);
});

test('a closed connection is removed', async () => {
  const endpoint = await createBareEndpoint();
  const { url } = endpoint;
  const pools = createPools({ clock: createFakeClock(), resolve: resolveHere });
  const line = pools.open(url, true);
  await line.client.request({ path: '/', method: 'POST' });
  pools.release(line);
  assert.equal(pools.takeIdle(url, false), undefined);
  assert.equal(pools.takeIdle(url, true), line);
  pools.release(line);
  endpoint.sockets[0]?.end();
  await once(line.client, 'disconnect');
  assert.equal(pools.takeIdle(url, true), undefined);
  assert.ok(line.client.destroyed);
});

test('an endpoint that sends Connection: close gets a new connection each time', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'answer', headers: { connection: 'close' } });
  const { post } = createPosting();
  for (let nth = 0; nth < 5; nth++) assert.equal((await post(endpoint.url)).status, 204);
  assert.equal(connectionsOf(endpoint), 5);
});

test('unexpected bytes close the connection and do not answer a later request', async () => {
  const endpoint = await createBareEndpoint(
    `${NO_CONTENT}HTTP/1.1 500 Smuggled\r\ncontent-length: 0\r\n\r\n`,
  );
  const { post } = createPosting();
  for (let nth = 0; nth < 5; nth++) assert.equal((await post(endpoint.url)).status, 204);
  assert.equal(endpoint.sockets.length, 5);
});

test('an idle connection is closed after 4 s without a keep-alive hint', async (t) => {
  const endpoint = await createBareEndpoint();
  freezeTimers(t);
  const { post } = createPosting();
  await post(endpoint.url);
  await post(endpoint.url);
  assert.equal(endpoint.sockets.length, 1);
  await idle();
  t.mock.timers.tick(3_999);
  await idle();
  const [socket] = endpoint.sockets;
  assert.ok(socket && !socket.readableEnded);
  t.mock.timers.tick(1);
  await once(socket, 'close');
});

test('an idle connection is closed 2 s before the endpoint would', async (t) => {
  const endpoint = await createBareEndpoint('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=20\r\n\r\n');
  freezeTimers(t);
  await createPosting().post(endpoint.url);
  await idle();
  t.mock.timers.tick(17_999);
  await idle();
  const [socket] = endpoint.sockets;
  assert.ok(socket && !socket.readableEnded);
  t.mock.timers.tick(1);
  await once(socket, 'close');
});

test('an idle connection is closed after a minute, whatever the keep-alive hint', async (t) => {
  const endpoint = await createBareEndpoint('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=86400\r\n\r\n');
  freezeTimers(t);
  await createPosting().post(endpoint.url);
  await idle();
  t.mock.timers.tick(CONNECTION_LIFETIME_MS);
  await once(endpoint.sockets[0] as Socket, 'close');
});

test('a busy connection is replaced after a minute, and the name is resolved again', async () => {
  const endpoint = await createTestEndpoint();
  let resolved = 0;
  const { clock, post } = createPosting(async () => {
    resolved++;
    return ['127.0.0.1'];
  });
  await post(named(endpoint.url));
  clock.advance(CONNECTION_LIFETIME_MS - 1);
  await post(named(endpoint.url));
  assert.equal(resolved, 1);
  clock.advance(1);
  await post(named(endpoint.url));
  assert.equal(resolved, 2);
  assert.equal(connectionsOf(endpoint), 2);
  await endpoint.received[0]?.connectionClosed;
  clock.set(new Date(clock.now().getTime() - 3_600_000));
  await post(named(endpoint.url));
  assert.equal(resolved, 3, 'the clock was set back');
});

test('beyond the limit of idle origins the longest idle one is closed', async (t) => {
  const endpoint = await createTestEndpoint();
  freezeTimers(t);
  const { clock, post } = createPosting();
  const urls = Array.from({ length: MAX_IDLE_POOLS }, (_, nth) => named(endpoint.url, `host-${nth}.test`));
  await Promise.all(urls.map((url) => post(url)));
  clock.advance(1);
  await Promise.all(urls.slice(1).map((url) => post(url)));
  const before = connectionsOf(endpoint);
  assert.equal(before, MAX_IDLE_POOLS);
  await post(named(endpoint.url, 'one-more.test'));
  const first = endpoint.received.find(({ headers }) => headers.host?.startsWith('host-0.'));
  await first?.connectionClosed;
  await Promise.all(urls.slice(1, 50).map((url) => post(url)));
  assert.equal(connectionsOf(endpoint), before + 1);
});

test('origins in use are never closed and do not count towards the idle limit', async (t) => {
  const endpoint = await createTestEndpoint();
  freezeTimers(t);
  const { post } = createPosting();
  const healthy = named(endpoint.url, 'healthy.test');
  await post(healthy);
  const held = hold();
  endpoint.behave((_, { headers }) => (headers.host?.startsWith('healthy.') ? { kind: 'answer' } : held));
  const count = MAX_IDLE_POOLS + 10;
  const answers = Array.from({ length: count }, (_, nth) => post(named(endpoint.url, `host-${nth}.test`)));
  await endpoint.waitForCount(1 + count);
  await post(healthy);
  assert.equal(connectionsOf(endpoint), 1 + count, 'the connection of before');
  held.release();
  for (const answer of await Promise.all(answers)) assert.equal(answer.kind, 'answered');
});

test('close aborts exchanges and leaves no connection and no timer', async () => {
  // Of other test files in this process.
  const socketsBefore = countSockets();
  const endpoint = await createTestEndpoint();
  const { clock, transport, post } = createPosting((name) =>
    name === 'never.test' ? new Promise(() => {}) : Promise.resolve(['127.0.0.1']),
  );
  await post(named(endpoint.url, 'idle.test'));
  endpoint.behave({ kind: 'hang' });
  const inFlight = [post(endpoint.url), post(named(endpoint.url, 'idle.test')), post('http://never.test/')];
  await endpoint.waitForCount(3);
  inFlight.push(post(named(endpoint.url, 'connecting.test')));
  await transport.close();
  for (const answer of await Promise.all(inFlight))
    assert.deepEqual(answer, { kind: 'unreachable', reason: 'the service is stopping', durationMs: 0 });
  await Promise.all(endpoint.received.map((request) => request.connectionClosed));
  assert.equal(clock.waiting(), 0);
  await endpoint.close();
  await idle();
  assert.ok(countSockets() <= socketsBefore);
});

function countSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

test('close while an idle connection is taken: nothing is sent', async () => {
  const endpoint = await createTestEndpoint();
  const { transport, post } = createPosting();
  await post(endpoint.url);
  const answer = post(endpoint.url);
  await transport.close();
  assert.deepEqual(await answer, { kind: 'unreachable', reason: 'the service is stopping', durationMs: 0 });
  await idle();
  assert.equal(endpoint.received.length, 1);
});

test('after close nothing is sent, and a second close does nothing', async () => {
  const endpoint = await createTestEndpoint();
  const { transport, post } = createPosting();
  await transport.close();
  const answer = await post(endpoint.url);
  assert.deepEqual(answer, { kind: 'unreachable', reason: 'the service is stopping', durationMs: 0 });
  assert.equal(endpoint.received.length, 0);
  await transport.close();
});

/** Waits a few turns of the event loop for local sockets. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
