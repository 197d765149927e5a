import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
const path = join(folder, 'large.portico');
await writeFile(path, Buffer.alloc(LARGE_BYTES));

/** Answers without reading the file, and keeps the connection open. */
const REFUSAL = '{"message":"refused"}';
const service = createServer((socket) => {
  socket
    .on('error', () => undefined)
    .once('data', () => {
      socket.pause();
      socket.write(`HTTP/1.1 409 Conflict\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`);
    });
}).listen(0, '127.0.0.1');
await once(service, 'listening');
after(async () => {
  service.close();
  await rm(folder, { recursive: true });
});

test('a call ends when the answer is read, though its file was not sent whole', async () => {
  const operatorUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const config = { operatorUrl, transferKey: new Secret('k'.repeat(32)) } as Config;
  const request = { method: 'PUT', path: '/operator/import', body: undefined };
  const call = { file: 'read' } as Call;
  const connected = once(service, 'connection') as Promise<[Socket]>;
  const answer = await sendFile(config, new Secret('token'), { call, request, path });
  assert.deepEqual(answer, { ok: false, body: JSON.parse(REFUSAL) });
  const [socket] = await connected;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
  assert.ok(socket.bytesRead < LARGE_BYTES, `${socket.bytesRead} bytes of the file were sent`);
});
