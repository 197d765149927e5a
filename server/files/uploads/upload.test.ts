import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Answer, createTestApp } from '../../../testing/app/app.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import {
  createFile,
  createFileOwner,
  type FileBody,
  type HttpAnswer,
  listenTo,
  PDF,
  PNG,
  send,
  showFile,
  storedIn,
  upload,
} from '../../../testing/objects/files.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';

/** PUT to the upload URL of folder storage, over a real socket (contract, section 8). */
const app = await createTestApp({ environment: { PORTICO_MAX_UPLOAD_BYTES: '1000000' } });
const local = await listenTo(app);
const tenant = await createFileOwner(app);
const owner = { ...tenant, token: () => userToken(app, tenant.organizationGuid) };
const MINUTE_MS = 60_000;

async function await_(): Promise<FileBody & { url: string }> {
  const file = await createFile(app, owner);
  return { ...file, url: local(file.upload_url) };
}

function assertRefused(answer: HttpAnswer | Answer, status: number, code: string, message?: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.message_code, code);
  if (message) assert.match(String(answer.body.message), message);
  assert.equal(
    answer.headers['access-control-allow-origin'],
    '*',
    'the page that sent it can read the error',
  );
}

/** Asserts that nothing was stored and that the link is still usable. */
async function assertUntouched({ guid, url }: { guid: string; url: string }): Promise<void> {
  await until(async () => (await storedIn(app)).length === 0, 'nothing stays');
  await until(async () => (await leaseOf(guid)) === null, 'the lease is released');
  assert.equal((await showFile(app, owner, guid)).state, 'storing');
  assert.equal((await upload(url, PNG)).status, 200);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  await forget(guid);
}

async function leaseOf(guid: string): Promise<string | null> {
  const query = app.database.queries.selectFrom('files').select('upload_leased_by').where('guid', '=', guid);
  return (await query.executeTakeFirstOrThrow()).upload_leased_by;
}

/** Lets the next test see only its own content. */
async function forget(guid: string): Promise<void> {
  await app.database.queries.deleteFrom('files').where('guid', '=', guid).execute();
  await app.database.queries.insertInto('file_deletions').values({ guid, due_at: app.clock.now() }).execute();
  await app.clusterTasks.runOnce();
}

test('content of the declared type is stored, and the file is completed with its size and hash', async () => {
  const { guid, url } = await await_();
  const answer = await upload(url, PNG);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(answer.body, { guid, state: 'storing' });
  const taken = await showFile(app, owner, guid);
  assert.equal(taken.state, 'storing');
  assert.equal(taken.upload_url, undefined, 'the file no longer waits for an upload');
  await app.fileProcessing.drain();
  const { state, size } = await showFile(app, owner, guid);
  assert.deepEqual([state, size], ['completed', PNG.length]);
  assert.deepEqual(await storedIn(app), [guid]);
  await forget(guid);
});

test('a link works once: 409 upload_completed, before and after processing', async () => {
  const { guid, url } = await await_();
  assert.equal((await upload(url, PNG)).status, 200);
  assertRefused(await upload(url, Buffer.concat([PNG, PNG])), 409, 'upload_completed');
  await app.fileProcessing.drain();
  assertRefused(await upload(url, PNG), 409, 'upload_completed');
  assert.equal((await showFile(app, owner, guid)).size, PNG.length);
  await forget(guid);
});

test('a link whose content failed works once too', async () => {
  const { guid, url } = await await_();
  assert.equal((await upload(url, PDF)).status, 200);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).failure_code, 'content_type_mismatch');
  assertRefused(await upload(url, PNG), 409, 'upload_completed');
  assert.deepEqual(await storedIn(app), []);
});

test('of two concurrent uploads exactly one is stored', async () => {
  const { guid, url } = await await_();
  const contents = [1, 2, 3, 4].map((n) => Buffer.concat([PNG, Buffer.alloc(n * 50_000, n)]));
  const answers = await Promise.all(contents.map((content) => upload(url, content)));
  const taken = answers.findIndex(({ status }) => status === 200);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  await app.fileProcessing.drain();
  const { state, size } = await showFile(app, owner, guid);
  assert.deepEqual([state, size], ['completed', contents[taken]?.length]);
  assert.deepEqual(await storedIn(app), [guid]);
  await forget(guid);
});

test('an upload that ends after another upload of the link failed is refused and leaves nothing', async () => {
  const { guid, url } = await await_();
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const late = send('PUT', url, headers, PNG.subarray(0, 10));
  await once(late.outgoing, 'socket');
  await until(async () => (await storedIn(app)).length > 0, 'the late upload has started');
  // As if its node had not renewed the lease in time.
  await app.database.queries.updateTable('files').set({ upload_leased_until: app.clock.now() }).execute();
  assert.equal((await upload(url, PDF)).status, 200);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).failure_code, 'content_type_mismatch');
  late.outgoing.end(PNG.subarray(10));
  assertRefused(await late.answer, 409, 'upload_completed');
  assert.deepEqual(await storedIn(app), []);
});

test('another content type, or none: 403 content_type_mismatch', async () => {
  const file = await await_();
  const types = ['image/jpeg', 'image/png; charset=utf-8', 'nonsense', 'application/json', undefined];
  for (const type of types) {
    const headers = { 'content-length': PNG.length, ...(type ? { 'content-type': type } : {}) };
    const { outgoing, answer } = send('PUT', file.url, headers, PNG);
    outgoing.end();
    assertRefused(await answer, 403, 'content_type_mismatch', /image\/png/);
  }
  await assertUntouched(file);
});

test('without Content-Length: 411 length_required', async () => {
  const file = await await_();
  const headers = { 'content-type': 'image/png', 'transfer-encoding': 'chunked' };
  const { outgoing, answer } = send('PUT', file.url, headers, PNG);
  outgoing.end();
  assertRefused(await answer, 411, 'length_required');
  await assertUntouched(file);
});

test('more bytes than signed: 413, which a client that keeps sending can read', async () => {
  const file = await await_();
  const answer = await upload(file.url, Buffer.alloc(1_000_001));
  assertRefused(answer, 413, 'payload_too_large', /1000000 bytes/);
  const endless = send('PUT', file.url, { 'content-type': 'image/png', 'content-length': 1024 ** 4 }, PNG);
  const closed = once(endless.outgoing, 'close');
  assertRefused(await endless.answer, 413, 'payload_too_large');
  await closed;
  await assertUntouched(file);
});

test('the connection of a refused upload is closed though the client goes on sending', async () => {
  const file = await await_();
  const headers = { 'content-type': 'image/png', 'content-length': 1024 ** 4 };
  // By the default agent, which keeps the connection.
  const outgoing = request(file.url, { method: 'PUT', headers }).on('error', () => undefined);
  outgoing.write(PNG);
  const [response] = await once(outgoing, 'response');
  assert.equal(response.statusCode, 413);
  await once(response.resume(), 'end');
  assert.ok(!outgoing.closed);
  // The server may set the time limit after the client has read the response.
  await until(() => {
    app.clock.advance(2_000);
    return outgoing.closed;
  }, 'the end of the connection');
  await forget(file.guid);
});

test('bytes after Content-Length are not part of the file', async () => {
  const { guid, url } = await await_();
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: ${PNG.length}\r\n\r\n`,
  );
  socket.write(PNG);
  socket.write('<script>more</script>\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  await until(async () => (await leaseOf(guid)) === null, 'the lease is released');
  await until(async () => (await storedIn(app)).every((name) => name === guid), 'it has ended');
  await app.fileProcessing.drain();
  // Depending on timing, the whole content or nothing is stored.
  const { size = 0 } = await showFile(app, owner, guid);
  assert.ok(size === PNG.length || size === 0, `${size} bytes`);
  await forget(guid);
});

test('an upload that is cut off leaves nothing and can be repeated', async () => {
  const file = await await_();
  const half = PNG.subarray(0, 30);
  const { outgoing } = send(
    'PUT',
    file.url,
    { 'content-type': 'image/png', 'content-length': PNG.length },
    half,
  );
  await until(async () => (await storedIn(app)).length === 1, 'the upload is being written');
  outgoing.destroy();
  await assertUntouched(file);
  assert.ok(!app.logged.some((line) => line.includes('internal error')));
});

test('after the expiry: 403 upload_expired, and the file fails with the same code', async () => {
  const { guid, url } = await await_();
  app.clock.advance(15 * MINUTE_MS - 1);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'storing');
  app.clock.advance(1);
  assertRefused(await upload(url, PNG), 403, 'upload_expired');
  assert.equal((await showFile(app, owner, guid)).upload_url, undefined);
  await app.fileProcessing.drain();
  const { state, failure_code } = await showFile(app, owner, guid);
  assert.deepEqual([state, failure_code], ['failed', 'upload_expired']);
  assertRefused(await upload(url, PNG), 403, 'upload_expired');
  assert.deepEqual(await storedIn(app), []);
});

test('an upload that started before the expiry may end after it', async () => {
  const { guid, url } = await await_();
  app.clock.advance(14 * MINUTE_MS);
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const { outgoing, answer } = send('PUT', url, headers, PNG.subarray(0, 30));
  await until(async () => (await storedIn(app)).length === 1, 'the upload is being written');
  app.clock.advance(30 * MINUTE_MS);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'storing', 'the file has not expired');
  outgoing.end(PNG.subarray(30));
  assert.equal((await answer).status, 200);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  await forget(guid);
});

test('a file that expires during an upload stays failed, and nothing is stored', async () => {
  const { guid, url } = await await_();
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const { outgoing, answer } = send('PUT', url, headers, PNG.subarray(0, 30));
  await until(async () => (await storedIn(app)).length === 1, 'the upload is being written');
  app.clock.advance(62 * MINUTE_MS);
  // A claim skips the file while a renewal of the upload's lease has its row locked.
  await until(async () => {
    await app.fileProcessing.drain();
    return (await showFile(app, owner, guid)).failure_code === 'upload_expired';
  }, 'the expiry');
  outgoing.end(PNG.subarray(30));
  assertRefused(await answer, 403, 'upload_expired');
  assert.deepEqual(await storedIn(app), []);
});

test('a changed signature, guid, type, size or expiry, or a missing or additional parameter: 403 signature_invalid', async () => {
  const file = await await_();
  const other = await await_();
  const changed = (change: (url: URL) => void) => {
    const url = new URL(file.url);
    change(url);
    return url.href;
  };
  const set = (name: string, value: string) => changed((url) => url.searchParams.set(name, value));
  const signature = new URL(file.url).searchParams.get('signature') ?? '';
  const flipped = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const url of [
    set('signature', flipped),
    set('signature', ''),
    changed((url) => url.searchParams.delete('signature')),
    changed((url) => {
      url.pathname = `/uploads/${other.guid}`;
    }),
    set('content_type', 'application/pdf'),
    set('max_bytes', '9999999999'),
    set('expires', String(app.clock.now().getTime() + 24 * 60 * MINUTE_MS)),
    `${file.url}&more=1`,
    `${file.url}&signature=${signature}`,
    file.url.split('?')[0] as string,
  ])
    assertRefused(await upload(url, PNG), 403, 'signature_invalid');
  await forget(other.guid);
  await assertUntouched(file);
});

test('an empty upload is stored and fails as empty', async () => {
  const { guid, url } = await await_();
  assert.equal((await upload(url, Buffer.alloc(0))).status, 200);
  await app.fileProcessing.drain();
  const { state, failure_code } = await showFile(app, owner, guid);
  assert.deepEqual([state, failure_code], ['failed', 'empty']);
  assert.deepEqual(await storedIn(app), []);
});

test('CORS preflight succeeds from any origin', async () => {
  const { url } = await await_();
  const origin = 'https://partner.example';
  const asked = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' };
  const { outgoing, answer } = send('OPTIONS', url, { origin, ...asked });
  outgoing.end();
  const { status, headers } = await answer;
  const allowed = ['origin', 'methods', 'headers'].map((name) => headers[`access-control-allow-${name}`]);
  assert.deepEqual([status, ...allowed], [204, '*', 'PUT', '*']);
  assert.ok(Number(headers['access-control-max-age']) > 0);
  const put = await upload(url, PNG, { origin });
  assert.equal(put.headers['access-control-allow-origin'], '*');
  // The SDK reads it after a refusal.
  assert.match(String(put.headers['access-control-expose-headers']), /\bretry-after\b/);
});

test('a connection can be reused for another upload', async () => {
  for (const { url } of [await await_(), await await_()]) {
    const response = await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: PNG });
    assert.equal(response.status, 200, await response.text());
  }
});
