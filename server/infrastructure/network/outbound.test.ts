import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createTestEndpoint, refusing } from '../../../testing/webhooks/test-endpoint.ts';
import { guardedConnector } from './outbound.ts';
import { type Resolve, systemResolve } from './resolve.ts';

/** Aborts right after the check, so that no connection leaves the machine. */
const GIVEN_UP = AbortSignal.abort();
const NOT_PUBLIC = { code: 'ADDRESS_NOT_PUBLIC' };

type Options = { allowPrivate?: boolean; signal?: AbortSignal };

function connect(url: string, resolve: Resolve, options: Options = {}): Promise<Socket> {
  const { allowPrivate = false, signal = new AbortController().signal } = options;
  const { hostname, protocol, port } = new URL(url);
  const connector = guardedConnector({ resolve, allowPrivate, signal });
  // Like undici, without the brackets of an IPv6 address.
  const target = { hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port };
  return new Promise((resolve, reject) => {
    connector(target, (error, socket) => (socket ? resolve(socket) : reject(error)));
  });
}

function answers(...addresses: string[]): Resolve & { asked: string[] } {
  const asked: string[] = [];
  return Object.assign(
    async (hostname: string) => {
      asked.push(hostname);
      return addresses;
    },
    { asked },
  );
}

for (const address of [
  '127.0.0.1',
  '169.254.169.254',
  '10.0.0.1',
  '::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  'fd00::1',
  'fe80::1%eth0',
  '0.0.0.0',
  '::',
  'hidden.internal',
]) {
  test(`a name that resolves to ${address} is rejected`, async () => {
    await assert.rejects(connect('http://partner.test/', answers(address)), NOT_PUBLIC);
  });
}

test('a name that resolves to public addresses passes the check', async () => {
  const resolve = answers('93.184.215.14', '2606:4700::1');
  await assert.rejects(connect('http://partner.test/', resolve, { signal: GIVEN_UP }), {
    name: 'AbortError',
  });
});

test('one address that is not public rejects the name, in any position', async () => {
  for (const addresses of [
    ['127.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '2606:4700::1', '10.0.0.1'],
    ['8.8.8.8', '::1'],
  ])
    await assert.rejects(
      connect('http://partner.test/', answers(...addresses), { signal: GIVEN_UP }),
      NOT_PUBLIC,
    );
  const late = [...Array(100).fill('8.8.8.8'), '127.0.0.1'];
  await assert.rejects(connect('http://partner.test/', answers(...late), { signal: GIVEN_UP }), NOT_PUBLIC);
});

for (const host of [
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '017700000001',
  '127.1',
  '[::1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '169.254.169.254',
  '0',
  '①27.0.0.1',
]) {
  test(`the address ${host} in a URL is rejected without a DNS query`, async () => {
    const resolve = answers('8.8.8.8');
    await assert.rejects(connect(`http://${host}/`, resolve, { signal: GIVEN_UP }), NOT_PUBLIC);
    assert.deepEqual(resolve.asked, []);
  });
}

test('a public address in a URL passes the check without a DNS query', async () => {
  const resolve = answers('127.0.0.1');
  for (const host of ['8.8.8.8', '[2606:4700::1]'])
    await assert.rejects(connect(`http://${host}/`, resolve, { signal: GIVEN_UP }), { name: 'AbortError' });
  assert.deepEqual(resolve.asked, []);
});

test('an address with a zone is not a valid URL', () => {
  for (const host of ['[fe80::1%25eth0]', '[fe80::1%eth0]']) assert.equal(URL.parse(`http://${host}/`), null);
});

test('the connection goes to the checked address, and the name is resolved once', async () => {
  const receiver = await createTestEndpoint();
  const resolve = answers('127.0.0.1');
  const { port } = new URL(receiver.url);
  // Only the test resolver knows this name, so a second resolution would fail.
  const socket = await connect(`http://nowhere.invalid:${port}/`, resolve, { allowPrivate: true });
  assert.equal(socket.remoteAddress, '127.0.0.1');
  assert.deepEqual(resolve.asked, ['nowhere.invalid']);
  socket.destroy();
});

test('rebinding: a name that resolves to a private address for the next connection is rejected', async () => {
  let calls = 0;
  const resolve = async () => (++calls === 1 ? ['8.8.8.8'] : ['127.0.0.1']);
  await assert.rejects(connect('http://partner.test/', resolve, { signal: GIVEN_UP }), {
    name: 'AbortError',
  });
  await assert.rejects(connect('http://partner.test/', resolve, { signal: GIVEN_UP }), NOT_PUBLIC);
  assert.equal(calls, 2);
});

test('addresses are tried in turn until one connects', async () => {
  const { port } = new URL((await createTestEndpoint()).url);
  for (const addresses of [
    ['::1', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.1'],
    ['127.0.0.2', '::1', '127.0.0.3', '127.0.0.1'],
  ]) {
    const socket = await connect(`http://partner.test:${port}/`, answers(...addresses), {
      allowPrivate: true,
    });
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
  }
});

test('when no address connects, the error of the first is reported', async () => {
  const { port } = new URL(await refusing());
  const attempt = connect(`http://partner.test:${port}/`, answers('127.0.0.1', '127.0.0.2'), {
    allowPrivate: true,
  });
  await assert.rejects(attempt, { code: 'ECONNREFUSED' });
});

test('a name without addresses is not found', async () => {
  await assert.rejects(connect('http://partner.test/', answers()), { code: 'ENOTFOUND' });
});

test('text that is not an address is rejected even when private addresses are allowed', async () => {
  const attempt = connect('http://partner.test/', answers('localhost'), { allowPrivate: true });
  await assert.rejects(attempt, NOT_PUBLIC);
});

test('port 0 is not treated as a missing port', async () => {
  await assert.rejects(connect('http://127.0.0.1:0/', answers(), { allowPrivate: true }), {
    code: /ECONNREFUSED|EADDRNOTAVAIL/,
  });
});

test('aborting closes a connection, established or not', async () => {
  const receiver = await createTestEndpoint();
  const stop = new AbortController();
  const socket = await connect(receiver.url, answers(), { allowPrivate: true, signal: stop.signal });
  const making = connect(receiver.url, answers(), { allowPrivate: true, signal: stop.signal });
  await Promise.resolve();
  stop.abort();
  assert.ok(socket.destroyed);
  await assert.rejects(making, { name: 'AbortError' });
});

test('the system resolves localhost to loopback', async () => {
  const found = await systemResolve('localhost');
  assert.ok(found.includes('127.0.0.1') || found.includes('::1'), found.join());
});
