import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { newGuid, noneAwaited, piecesOf } from '../testing/storage-suite.ts';
import { createStore, upload } from './testing/storage.ts';

const HOUR_MS = 3_600_000;
const TERMS = { organizationGuid: newGuid(), contentType: 'image/png', maxBytes: 1_000 };

test('an upload URL accepts one content type until it expires, and head accepts the upload', async () => {
  const { storage, expiresAt, clock, objects } = await createStore();
  const guid = newGuid();
  const url = await storage.uploadUrl({ guid, ...TERMS, expiresAt });
  assert.equal(await storage.head(guid), undefined);
  clock.advance(HOUR_MS - 1_000);
  assert.equal((await upload(url, 'image/png', 'bytes')).status, 200);
  assert.equal(await storage.read(guid), undefined);
  assert.deepEqual(await storage.head(guid), { size: 5 });
  assert.deepEqual([...objects.keys()], [`files/${guid}`]);
  assert.equal(objects.get(`files/${guid}`)?.headers['content-type'], 'image/png');
});

test('a tampered or expired upload URL writes nothing', async () => {
  const { storage, expiresAt, clock, objects, double } = await createStore();
  const [guid, other] = [newGuid(), newGuid()];
  const url = await storage.uploadUrl({ guid, ...TERMS, expiresAt });
  const statusOf = async (changed: string, type = 'image/png', init = {}) =>
    (await upload(changed, type, 'bytes', init)).status;
  assert.equal(await statusOf(url, 'text/html'), 403);
  assert.equal(await statusOf(url, ''), 403);
  assert.equal(await statusOf(url.replace(guid, other)), 403);
  assert.equal(await statusOf(url.replace('/uploads/', '/files/')), 403);
  assert.equal(await statusOf(url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=7200')), 403);
  assert.equal(await statusOf(url.replace(/(Signature=.)./, '$1-')), 403);
  assert.equal(await statusOf(url.replace(/&X-Amz-Signature=[^&]+/, '')), 403);
  assert.equal(await statusOf(url, 'image/png', { method: 'DELETE' }), 403);
  assert.equal(await statusOf(url, 'image/png', { headers: { 'x-amz-copy-source': 'a/b' } }), 403);
  clock.advance(HOUR_MS);
  assert.equal(await statusOf(url), 403);
  assert.equal(double.refusals.length, 10);
  assert.deepEqual([...objects.keys()], []);
});

test('a URL expires in the second of its expiry, whenever it was signed', async () => {
  const { storage, clock } = await createStore();
  clock.advance(999);
  const expiresAt = new Date(clock.now().getTime() + 900_000);
  const url = new URL(await storage.uploadUrl({ guid: newGuid(), ...TERMS, expiresAt }));
  assert.equal(url.searchParams.get('X-Amz-Date'), '20261115T120000Z');
  assert.equal(url.searchParams.get('X-Amz-Expires'), '900');
});

test('a reused URL replaces nothing, and its upload is swept', async () => {
  const { storage, expiresAt, clock, objects } = await createStore();
  const guid = newGuid();
  const url = await storage.uploadUrl({ guid, ...TERMS, expiresAt });
  await upload(url, 'image/png', 'checked');
  await storage.head(guid);
  await upload(url, 'image/png', 'replaced!');
  assert.deepEqual(await storage.head(guid), { size: 7 });
  assert.equal(await textOf(await storage.read(guid)), 'checked');
  assert.equal(await storage.sweepTemporary(clock.now(), noneAwaited), 0);
  clock.advance(1);
  assert.equal(await storage.sweepTemporary(clock.now(), noneAwaited), 1);
  assert.deepEqual([...objects.keys()], [`files/${guid}`]);
});

test('awaited and recent uploads fill a page, and keep no other from the sweep', async () => {
  const { storage, expiresAt, clock, objects, double } = await createStore();
  const guids = [newGuid(), newGuid(), newGuid()].sort();
  for (const guid of guids)
    await upload(await storage.uploadUrl({ guid, ...TERMS, expiresAt }), 'image/png', 'content');
  clock.advance(1);
  const olderThan = clock.now();
  const [awaited = '', recent = ''] = guids;
  await upload(await storage.uploadUrl({ guid: recent, ...TERMS, expiresAt }), 'image/png', 'again');
  double.bucket.pageObjects = 2;
  assert.equal(await storage.sweepTemporary(olderThan, async () => new Set([awaited])), 1);
  assert.deepEqual(
    [...objects.keys()].sort(),
    [awaited, recent].map((guid) => `uploads/${guid}`),
  );
});

test('an upload that is replaced before the copy is checked again', async () => {
  const { storage, expiresAt, double } = await createStore();
  const guid = newGuid();
  const url = await storage.uploadUrl({ guid, ...TERMS, expiresAt });
  await upload(url, 'image/png', 'first');
  const uploaded = double.bucket.objects.get(`uploads/${guid}`);
  assert.ok(uploaded);
  double.setFault((request) => {
    if (!request.headers['x-amz-copy-source'] || uploaded.etag === '"second"') return undefined;
    Object.assign(uploaded, { body: Buffer.from('second one'), etag: '"second"' });
    return undefined;
  });
  assert.deepEqual(await storage.head(guid), { size: 10 });
  assert.equal(await textOf(await storage.read(guid)), 'second one');
});

test('a file that another node accepted meanwhile is kept', async () => {
  const { storage, expiresAt, double } = await createStore();
  const guid = newGuid();
  const url = await storage.uploadUrl({ guid, ...TERMS, expiresAt });
  await upload(url, 'image/png', 'replacement');
  double.setFault((request) => {
    const uploaded = double.bucket.objects.get(`uploads/${guid}`);
    if (request.headers['x-amz-copy-source'] && uploaded)
      double.bucket.objects.set(`files/${guid}`, { ...uploaded, body: Buffer.from('taken in') });
    return undefined;
  });
  assert.deepEqual(await storage.head(guid), { size: 8 });
  assert.equal(await textOf(await storage.read(guid)), 'taken in');
});

test('an object larger than the copy limit reports its size and is not accepted', async () => {
  const { storage, expiresAt, double } = await createStore();
  const guid = newGuid();
  await upload(await storage.uploadUrl({ guid, ...TERMS, expiresAt }), 'image/png', 'bytes');
  const size = 5 * 1_073_741_824 + 1;
  const uploaded = double.bucket.objects.get(`uploads/${guid}`);
  assert.ok(uploaded);
  Object.defineProperty(uploaded.body, 'length', { value: size });
  assert.deepEqual(await storage.head(guid), { size });
  assert.equal(await storage.read(guid), undefined);
  await storage.delete(guid);
  assert.equal(double.bucket.objects.size, 0);
});

test('a download is an attachment of the declared type, also in ranges, until it expires', async () => {
  const { storage, expiresAt, clock } = await createStore();
  const guid = newGuid();
  await storage.put(guid, piecesOf(Buffer.from('0123456789')), TERMS);
  const filename = 'Rechnung "März" 100%.png';
  const url = await storage.downloadUrl({ guid, ...TERMS, filename, expiresAt });
  const whole = await fetch(url);
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get('content-type'), 'image/png');
  assert.equal(
    whole.headers.get('content-disposition'),
    `attachment; filename="Rechnung _M_rz_ 100_.png"; filename*=UTF-8''Rechnung%20%22M%C3%A4rz%22%20100%25.png`,
  );
  assert.equal(await whole.text(), '0123456789');
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } });
  assert.equal(part.status, 206);
  assert.equal(await part.text(), '234');
  assert.equal((await fetch(url.replace('attachment', 'inline'))).status, 403);
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 403);
  clock.advance(HOUR_MS);
  assert.equal((await fetch(url)).status, 403);
});

async function textOf(stream: Parameters<typeof buffer>[0] | undefined): Promise<string | undefined> {
  return stream && (await buffer(stream)).toString();
}
