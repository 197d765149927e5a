import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import {
  createFile,
  createFileOwner,
  inline,
  PDF,
  PNG,
  postFile,
  showFile,
} from '../../../testing/objects/files.ts';
import { refusing } from '../../../testing/webhooks/test-endpoint.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createS3Double } from '../storage/s3/testing/double.ts';

/** Files on an S3-compatible store, with pre-signed URLs of the store and uploads that are found by polling. */
const clock = createFakeClock(new Date());
const store = await createS3Double(clock);
after(() => store.close());
const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store.settings;
const environment = {
  PORTICO_S3_ENDPOINT: endpoint,
  PORTICO_S3_BUCKET: bucket,
  PORTICO_S3_REGION: region,
  PORTICO_S3_ACCESS_KEY_ID: accessKeyId,
  PORTICO_S3_SECRET_ACCESS_KEY: secretAccessKey.reveal(),
  PORTICO_MAX_UPLOAD_BYTES: '1000',
};
const app = await createTestApp({ clock, environment });
const tenant = await createFileOwner(app);
const owner = { ...tenant, token: () => userToken(app, tenant.organizationGuid) };
const MINUTE_MS = 60_000;

const put = (url: string, body: Buffer, type = 'image/png') =>
  fetch(url, { method: 'PUT', body, headers: { 'content-type': type } });

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await app.fileProcessing.drain();
}

async function nextLookIn(guid: string): Promise<number> {
  const row = await app.database.queries
    .selectFrom('files')
    .select('next_look_at')
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  return (row.next_look_at?.getTime() ?? Number.NaN) - clock.now().getTime();
}

test('links are pre-signed URLs of the store, and the service has no upload routes', async () => {
  const { guid, upload_url: url } = await createFile(app, owner);
  assert.ok(url.startsWith(`${endpoint}/`), url);
  assert.equal((await app.call({ method: 'PUT', url: `/uploads/${guid}` })).status, 404);
  assert.equal((await app.call({ url: `/downloads/${guid}` })).status, 404);
});

test('an upload is found by polling, processed, and downloaded from the store', async () => {
  const { guid, upload_url: url } = await createFile(app, owner);
  assert.equal((await put(url, PNG)).status, 200);
  await pass(1_000);
  const { state, size, upload_url: gone } = await showFile(app, owner, guid);
  assert.deepEqual([state, size, gone], ['completed', PNG.length, undefined]);
  const shown = await showFile(app, owner, guid, '?include_download_url=true');
  const response = await fetch(shown.download_url);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), PNG);
  assert.match(String(response.headers.get('content-disposition')), /^attachment; filename="bill\.png"/);
});

test('an upload that was not found during an outage of a day is not swept', async () => {
  const { guid, upload_url: url } = await createFile(app, owner);
  await put(url, PNG);
  clock.advance(25 * 60 * MINUTE_MS);
  await app.clusterTasks.runOnce();
  await pass(0);
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
});

test('an upload that no poll has found is kept, also of a frozen Organization, and keeps no other from the sweep', async () => {
  const swept = await createFile(app, owner);
  await put(swept.upload_url, PNG);
  await pass(1_000);
  // The first upload was accepted, so nothing needs this one.
  await put(swept.upload_url, PNG);
  const { organizationGuid, ...frozen } = await createFileOwner(app);
  const kept = await createFile(app, frozen);
  await put(kept.upload_url, PNG);
  const waiting = await createFile(app, owner);
  await put(waiting.upload_url, PNG);
  assert.ok(!isFailure(await app.transfers.freeze(operator, organizationGuid)));
  clock.advance(25 * 60 * MINUTE_MS);
  await app.clusterTasks.runOnce();
  const has = ({ guid }: { guid: string }) => store.bucket.objects.has(`uploads/${guid}`);
  assert.deepEqual([swept, kept, waiting].map(has), [false, true, true]);
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, organizationGuid)));
  await pass(0);
  const caller = { ...frozen, token: () => userToken(app, organizationGuid) };
  assert.equal((await showFile(app, caller, kept.guid)).state, 'completed');
});

test('the upload URL replaces nothing once the upload was accepted', async () => {
  const { guid, upload_url: url } = await createFile(app, owner);
  await put(url, PNG);
  await pass(1_000);
  const { sha256 } = await showFile(app, owner, guid);
  await put(url, Buffer.concat([PNG, Buffer.from('more')]));
  await pass(MINUTE_MS);
  const shown = await showFile(app, owner, guid, '?include_download_url=true');
  assert.equal(shown.sha256, sha256);
  const response = await fetch(shown.download_url);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), PNG);
});

test('polls start after a second and slow down to two minutes, and to ten after the link expires', async () => {
  const { guid } = await createFile(app, owner);
  assert.equal(await nextLookIn(guid), 1_000);
  await pass(1_000);
  assert.equal(await nextLookIn(guid), 1_000);
  await pass(7_000);
  assert.equal(await nextLookIn(guid), 2_000);
  await pass(10 * MINUTE_MS);
  assert.equal(await nextLookIn(guid), 120_000);
  await pass(5 * MINUTE_MS);
  assert.equal(await nextLookIn(guid), 227_000);
  await pass(30 * MINUTE_MS);
  assert.equal(await nextLookIn(guid), 600_000);
});

test('a file without an upload fails an hour after its link expires', async () => {
  const { guid } = await createFile(app, owner);
  await pass(75 * MINUTE_MS - 1);
  assert.equal((await showFile(app, owner, guid)).state, 'storing');
  await pass(1);
  assert.equal((await showFile(app, owner, guid)).failure_code, 'upload_expired');
});

test('content that is uploaded after that is deleted', async () => {
  const { guid, upload_url: url } = await createFile(app, owner);
  // The store checks the expiry when an upload starts.
  assert.equal((await put(url, PNG)).status, 200);
  const hidden = new Map([...store.bucket.objects].filter(([key]) => key.includes(guid)));
  for (const key of hidden.keys()) store.bucket.objects.delete(key);
  await pass(76 * MINUTE_MS);
  assert.equal((await showFile(app, owner, guid)).failure_code, 'upload_expired');
  for (const [key, object] of hidden) store.bucket.objects.set(key, object);
  clock.advance(24 * 60 * MINUTE_MS);
  await app.clusterTasks.runOnce();
  assert.ok(![...store.bucket.objects.keys()].some((key) => key.includes(guid)));
});

test('oversized content fails as too_large, content of the wrong type as content_type_mismatch, and both are deleted', async () => {
  const large = await createFile(app, owner);
  await put(large.upload_url, Buffer.concat([PNG, Buffer.alloc(1_000)]));
  const wrong = await createFile(app, owner);
  await put(wrong.upload_url, PDF);
  await pass(1_000);
  assert.equal((await showFile(app, owner, large.guid)).failure_code, 'too_large');
  assert.equal((await showFile(app, owner, wrong.guid)).failure_code, 'content_type_mismatch');
  const kept = [...store.bucket.objects.keys()];
  assert.ok(!kept.some((key) => key.includes(large.guid) || key.includes(wrong.guid)));
});

test('missing uploads delay neither uploaded files nor other Organizations', async () => {
  const abandoned = await Promise.all(Array.from({ length: 20 }, () => createFile(app, owner)));
  const guids = new Set(abandoned.map(({ guid }) => guid));
  let answer = (_: undefined) => {};
  const held = new Promise<undefined>((resolve) => {
    answer = resolve;
  });
  store.setFault(({ path }) => (guids.has(path.split('/').at(-1) ?? '') ? held : undefined));
  clock.advance(1_000);
  const drained = app.fileProcessing.drain();
  const neighbour = await createFileOwner(app);
  const { guid } = await createFile(app, neighbour, inline(PNG));
  void app.fileProcessing.drain();
  await until(async () => (await showFile(app, neighbour, guid)).state === 'completed', 'it is completed');
  answer(undefined);
  store.setFault(() => undefined);
  await drained;
  await app.database.queries
    .deleteFrom('files')
    .where('guid', 'in', [...guids])
    .execute();
});

test('orphaned content is found page by page and deleted after a day', async () => {
  const { guid: kept } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  const [orphan, recent] = ['a'.repeat(32), 'b'.repeat(32)].map((guid) =>
    guid.replace(/^.{13}/, '0190163d86947'),
  );
  const [object] = [...store.bucket.objects.values()];
  assert.ok(object);
  store.bucket.objects.set(`files/${orphan}`, { ...object, modified: clock.now() });
  store.bucket.pageObjects = 2;
  clock.advance(24 * 60 * MINUTE_MS + 1);
  store.bucket.objects.set(`files/${recent}`, { ...object, modified: clock.now() });
  const has = (guid: string | undefined) => store.bucket.objects.has(`files/${guid}`);
  for (let round = 0; has(orphan) && round < 50; round++) await app.clusterTasks.runOnce();
  await app.clusterTasks.runOnce();
  assert.deepEqual([has(orphan), has(recent), has(kept)], [false, true, true]);
});

test('inline content goes to the store; while the store is down: 503, and partial content is deleted', async () => {
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  store.setFault(({ method }) => (method === 'PUT' ? 'refuse' : undefined));
  const away = { token: await owner.token(), customerGuid: owner.customerGuid };
  assertError(await postFile(app, away, inline(PNG)), 503, 'storage_unavailable');
  store.setFault(() => undefined);
  const deletions = () => app.database.queries.selectFrom('file_deletions').selectAll().execute();
  const dueAt = clock.now().getTime() + 60 * MINUTE_MS;
  assert.ok((await deletions()).some(({ due_at }) => due_at.getTime() === dueAt));
  clock.advance(60 * MINUTE_MS);
  await app.clusterTasks.runOnce();
  assert.deepEqual(await deletions(), []);
});

test('uploads to the store count against the quota once they are found, and are kept beyond it', async () => {
  const scanner = new URL(await refusing());
  const limits = {
    PORTICO_MAX_UPLOAD_BYTES: String(PNG.length),
    PORTICO_MAX_PENDING_BYTES: String(PNG.length),
    // Without a scanner files stay pending.
    PORTICO_CLAMD: scanner.host,
  };
  const limited = await createTestApp({ clock, environment: { ...environment, ...limits } });
  const payer = await createFileOwner(limited);
  const files = [await createFile(limited, payer), await createFile(limited, payer)];
  for (const { upload_url: url } of files) assert.equal((await put(url, PNG)).status, 200);
  clock.advance(1_000);
  await limited.fileProcessing.drain();
  for (const fields of [{}, inline(PNG)])
    assertError(await postFile(limited, payer, fields), 422, 'pending_files_limit_reached', /bytes/);
  for (const { guid } of files) assert.equal((await showFile(limited, payer, guid)).state, 'storing');
});
