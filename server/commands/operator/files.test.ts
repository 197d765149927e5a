import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Config } from '../../infrastructure/config/config.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Call } from './calls.ts';
import { sendFile } from './files.ts';

/** More than the buffers of both sockets. */
const LARGE_BYTES = 32 * 1024 * 1024;
const folder = await mkdtemp(join(tmpdir(), 'portico-test-'));
await writeFile(join(folder, 'large.portico'), Buffer.alloc(LARGE_BYTES));

/** Answers the first bytes of a request, does not read the rest, and keeps the connection open. */
let answerTo = (_socket: Socket): void => undefined;
const REFUSAL = '{"message":"refused"}';
const service = createServer((socket) => {
  socket
    .on('error', () => undefined)
    .once('data', () => {
      socket.pause();
      answerTo(socket);
    });
}).listen(0, '127.0.0.1');
await once(service, 'listening');
after(async () => {
  service.close();
  await rm(folder, { recursive: true });
});

function send(file: 'read' | 'written', name: string, stop = new AbortController().signal) {
  const operatorUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const config = { operatorUrl, transferKey: new Secret('k'.repeat(32)) } as Config;
  const request = { method: 'PUT', path: '/operator', body: undefined };
  const transfer = { call: { file } as Call, request, path: join(folder, name) };
  return sendFile(config, new Secret('token'), transfer, stop);
}

test('a call ends when the answer is read, though its file was not sent whole', async () => {
  answerTo = (socket) =>
    void socket.write(`HTTP/1.1 409 Conflict\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`);
  const connected = once(service, 'connection') as Promise<[Socket]>;
  const answer = await send('read', 'large.portico');
  assert.deepEqual(answer, { ok: false, body: JSON.parse(REFUSAL) });
  const [socket] = await connected;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
  assert.ok(socket.bytesRead < LARGE_BYTES, `${socket.bytesRead} bytes of the file were sent`);
});

const FROZEN = /frozen: export it again, or run portico operator organizations unfreeze/;

test('an interrupted export leaves no file and tells that the Organization is frozen', async () => {
  for (const answer of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart']) {
    const stop = new AbortController();
    answerTo = (socket) => void socket.write(answer, () => stop.abort());
    await assert.rejects(send('written', 'acme.portico', stop.signal), FROZEN);
    assert.deepEqual(await readdir(folder), ['large.portico']);
  }
});

test('a lost connection does not look like a service that was not reached', async () => {
  answerTo = (socket) => void socket.resetAndDestroy();
  await assert.rejects(send('written', 'acme.portico'), FROZEN);
  await assert.rejects(send('read', 'large.portico'), /may have completed: import the file again before/);
});
