import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import {
  createFile,
  createFileOwner,
  type HttpAnswer,
  inline,
  listenTo,
  PDF,
  PNG,
  send,
  showFile,
} from '../../../testing/objects/files.ts';

/** Downloads by link over a real socket. */
const app = await createTestApp();
const local = await listenTo(app);
const tenant = await createFileOwner(app);
const owner = { ...tenant, token: () => userToken(app, tenant.organizationGuid) };
const ASK = '?include_download_url=true';

async function linkTo(content: Buffer, given: Record<string, unknown> = {}): Promise<string> {
  const { guid } = await createFile(app, owner, { ...inline(content), ...given });
  await app.fileProcessing.drain();
  return local((await showFile(app, owner, guid, ASK)).download_url);
}

async function fetched(
  url: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<HttpAnswer> {
  const { outgoing, answer } = send(method, url, headers);
  outgoing.end();
  return answer;
}

test('only a completed file has a download URL, on request, valid for five minutes', async () => {
  const { guid } = await createFile(app, owner, inline(PNG));
  assert.equal((await showFile(app, owner, guid, ASK)).download_url, undefined, 'not yet processed');
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).download_url, undefined, 'not asked for');
  assert.equal((await showFile(app, owner, guid, '?include_download_url=false')).download_url, undefined);
  const shown = await showFile(app, owner, guid, ASK);
  assert.match(shown.download_url, new RegExp(`^http://localhost:4000/downloads/${guid}\\?`));
  const expiresAt = new Date(app.clock.now().getTime() + 300_000).toISOString();
  assert.equal(shown.download_expires_at, expiresAt);
  const failed = await createFile(app, owner, inline(PDF));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, failed.guid, ASK)).download_url, undefined, 'failed');
});

test('the content is returned unchanged as an attachment of its declared type, without sniffing', async () => {
  const { status, headers, bytes } = await fetched(await linkTo(PNG, { filename: 'my bill.png' }));
  assert.equal(status, 200);
  assert.deepEqual(bytes, PNG);
  assert.equal(headers['content-type'], 'image/png');
  assert.equal(headers['content-length'], String(PNG.length));
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(String(headers['content-security-policy']), /default-src 'none'/);
  assert.equal(
    headers['content-disposition'],
    `attachment; filename="my bill.png"; filename*=UTF-8''my%20bill.png`,
  );
  assert.equal(headers['accept-ranges'], 'bytes');
  assert.equal(headers.etag, `"${createHash('sha256').update(PNG).digest('hex')}"`);
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['cache-control'], 'no-store');
});

test('no filename can break out of the header', async () => {
  for (const filename of ['a"; filename="evil.exe', "x'y*%41.png", 'Übersicht 請求書.pdf', 'a; b=c.png']) {
    const { headers } = await fetched(await linkTo(PNG, { filename }));
    const [, plain = '', encoded = ''] =
      /^attachment; filename="([^"\\%]*)"; filename\*=UTF-8''([\w.!#$&+^`|~%-]+)$/.exec(
        String(headers['content-disposition']),
      ) ?? [];
    assert.match(plain, /^[ -~]+$/);
    assert.equal(decodeURIComponent(encoded), filename);
  }
});

const RANGES: Record<string, [start: number, end: number] | 'whole' | 'unsatisfiable'> = {
  'bytes=0-0': [0, 0],
  'bytes=10-19': [10, 19],
  'bytes=10-': [10, PNG.length - 1],
  'bytes=-5': [PNG.length - 5, PNG.length - 1],
  'bytes=-100000': [0, PNG.length - 1],
  'bytes=10-100000': [10, PNG.length - 1],
  [`bytes=${PNG.length}-`]: 'unsatisfiable',
  'bytes=100000-100001': 'unsatisfiable',
  'bytes=-0': 'unsatisfiable',
  'bytes=5-2': 'whole',
  'bytes=-': 'whole',
  'bytes=0-1,3-4': 'whole',
  'lines=0-1': 'whole',
  nonsense: 'whole',
};

for (const [range, expected] of Object.entries(RANGES))
  test(`Range: ${range}`, async () => {
    const { status, headers, bytes, body } = await fetched(await linkTo(PNG), { range });
    if (expected === 'unsatisfiable') {
      assert.deepEqual([status, body.message_code], [416, 'range_not_satisfiable']);
      assert.equal(headers['content-range'], `bytes */${PNG.length}`);
    } else if (expected === 'whole') {
      assert.deepEqual([status, bytes], [200, PNG]);
    } else {
      const [start, end] = expected;
      assert.deepEqual([status, bytes], [206, PNG.subarray(start, end + 1)]);
      assert.equal(headers['content-range'], `bytes ${start}-${end}/${PNG.length}`);
      assert.equal(headers['content-length'], String(end - start + 1));
    }
  });

test('If-Range returns a range only of the same version', async () => {
  const url = await linkTo(PNG);
  const { headers } = await fetched(url);
  const range = 'bytes=1-2';
  assert.equal((await fetched(url, { range, 'if-range': String(headers.etag) })).status, 206);
  assert.equal((await fetched(url, { range, 'if-range': '"other"' })).status, 200);
});

test('If-None-Match with the ETag is 304 without the content, also of a range', async () => {
  const url = await linkTo(PNG);
  const etag = String((await fetched(url)).headers.etag);
  for (const method of ['GET', 'HEAD'] as const) {
    const known = await fetched(url, { 'if-none-match': `"other", ${etag}`, range: 'bytes=1-2' }, method);
    assert.deepEqual([known.status, known.bytes.length, known.headers.etag], [304, 0, etag]);
    assert.equal(known.headers['content-length'], undefined);
  }
  assert.equal((await fetched(url, { 'if-none-match': '"other"' })).status, 200);
  assertError(
    await fetched(url, { 'if-none-match': 'bare' }),
    400,
    'invalid_parameter',
    /^If-None-Match must be/,
  );
});

test('HEAD returns the same headers without the content', async () => {
  const url = await linkTo(PNG);
  const { status, headers, bytes } = await fetched(url, {}, 'HEAD');
  assert.deepEqual([status, bytes.length], [200, 0]);
  assert.equal(headers['content-length'], String(PNG.length));
  assert.match(String(headers['content-disposition']), /^attachment/);
  const part = await fetched(url, { range: 'bytes=1-2' }, 'HEAD');
  assert.deepEqual([part.status, part.headers['content-length']], [206, '2']);
});

test('content that cannot be read is 503 storage_unavailable', async () => {
  const url = await linkTo(PNG);
  const guid = new URL(url).pathname.split('/').at(-1) as string;
  const folder = join(app.dataDir, 'files', guid.slice(-2));
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  assertError(await fetched(url), 503, 'storage_unavailable');
  await rm(folder);
});

test('an expired link is 403 download_expired, a tampered link 403 signature_invalid', async () => {
  const url = await linkTo(PNG);
  const other = new URL(await linkTo(PNG)).pathname;
  const changed = new URL(url);
  changed.searchParams.set('filename', 'other.exe');
  for (const wrong of [
    changed.href,
    url.replace(new URL(url).pathname, other),
    url.split('?')[0] as string,
  ]) {
    const { status, body } = await fetched(wrong);
    assert.deepEqual([status, body.message_code], [403, 'signature_invalid']);
  }
  app.clock.advance(299_999);
  assert.equal((await fetched(url)).status, 200);
  app.clock.advance(1);
  const { status, body } = await fetched(url);
  assert.deepEqual([status, body.message_code], [403, 'download_expired']);
});

test('upload and download links are not interchangeable', async () => {
  const { upload_url: uploadUrl } = await createFile(app, owner);
  assert.equal((await fetched(local(uploadUrl).replace('/uploads/', '/downloads/'))).status, 403);
  const download = await linkTo(PNG);
  const headers = { 'content-type': 'image/png', 'content-length': '0' };
  assert.equal((await fetched(download.replace('/downloads/', '/uploads/'), headers, 'PUT')).status, 403);
});

test('a client that disconnects during a download causes no error', async () => {
  const large = Buffer.concat([PNG, Buffer.alloc(7_000_000)]);
  const url = await linkTo(large);
  const response = await fetch(url);
  await response.body?.cancel();
  assert.equal((await fetched(url)).bytes.length, large.length);
  assert.ok(!app.logged.some((line) => line.includes('internal error')));
});
