import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { auditRecordsOf } from '../../../testing/api/answers.ts';
import { createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import {
  createFile,
  createFileOwner,
  inline,
  listenTo,
  PDF,
  PNG,
  showFile,
  storedIn,
  upload,
} from '../../../testing/objects/files.ts';
import { metricOf, until } from '../../../testing/webhooks/webhooks.ts';

/** Each file is processed once, from storing to completed or failed, also when nodes die. */
const SCRIPT_IN_PNG = Buffer.concat([PNG, Buffer.from('<script>alert(1)</script>')]);

async function createOwned(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  const tenant = await createFileOwner(app);
  return { app, owner: { ...tenant, token: () => userToken(app, tenant.organizationGuid) } };
}

/** Two nodes on one database and one folder. */
async function createNodes() {
  const testDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-test-'));
  const clock = createFakeClock();
  const { app: a, owner } = await createOwned({ testDatabase, dataDir, clock });
  const b = await createTestApp({ testDatabase, dataDir, clock });
  after(async () => {
    await testDatabase.drop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { a, b, owner };
}

const rowOf = (app: TestApp, guid: string) =>
  app.database.queries.selectFrom('files').selectAll().where('guid', '=', guid).executeTakeFirstOrThrow();

const { app, owner } = await createOwned();

test('content of another type than declared fails as content_type_mismatch and is deleted', async () => {
  for (const [content, content_type] of [
    [PNG, 'application/pdf'],
    [SCRIPT_IN_PNG, 'application/pdf'],
    [PDF, 'image/png'],
    [Buffer.from('{"a":1'), 'application/json'],
  ] as const) {
    const { guid } = await createFile(app, owner, { content_type, ...inline(content) });
    await app.fileProcessing.drain();
    const { state, failure_code, failed_at, size } = await showFile(app, owner, guid);
    assert.deepEqual([state, failure_code, size], ['failed', 'content_type_mismatch', content.length]);
    assert.equal(failed_at, app.clock.now().toISOString());
    const [record] = await auditRecordsOf(app, guid, 'file.fail');
    assert.deepEqual(record?.changes, { failure_code: 'content_type_mismatch' });
  }
  assert.deepEqual(await storedIn(app), []);
  assert.deepEqual(await app.database.queries.selectFrom('file_deletions').selectAll().execute(), []);
});

test('a PNG with an appended script is completed as a PNG', async () => {
  const { guid } = await createFile(app, owner, inline(SCRIPT_IN_PNG));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
});

test('invalid JSON fails', async () => {
  const given = { content_type: 'application/json', filename: 'a.json' };
  const { guid } = await createFile(app, owner, { ...given, ...inline('{"a":[1,2]}') });
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
});

test('uploads to the own process are processed at once, others within two seconds', async () => {
  const { a, b, owner: other } = await createNodes();
  b.fileProcessing.start();
  await until(async () => b.clock.waiting() > 0);
  const { guid: own } = await createFile(b, other, inline(PNG));
  await until(async () => (await showFile(a, other, own)).state === 'completed', 'woken');
  const { guid: foreign } = await createFile(a, other, inline(PNG));
  b.clock.advance(2_000);
  await until(async () => (await showFile(a, other, foreign)).state === 'completed', 'found');
});

test('each file is processed by one of two concurrent nodes', async () => {
  const { a, b, owner: other } = await createNodes();
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, n) => createFile(n % 2 ? a : b, other, inline(n % 4 ? PNG : PDF))),
  );
  await Promise.all([a.fileProcessing.drain(), b.fileProcessing.drain()]);
  // The other node may still be processing the last file.
  await Promise.all([a.fileProcessing.drain(), b.fileProcessing.drain()]);
  const ended = async (state: string) =>
    (await metricOf(a, `portico_files_total{state="${state}"}`)) +
    (await metricOf(b, `portico_files_total{state="${state}"}`));
  assert.deepEqual([await ended('completed'), await ended('failed')], [15, 5]);
  for (const { guid } of created) {
    const endings = (await auditRecordsOf(a, guid)).filter(({ action }) => action !== 'file.create');
    assert.equal(endings.length, 1);
  }
});

test('another node processes the file of a dead node when its lease expires', async () => {
  const { a, owner: other } = await createNodes();
  const { guid } = await createFile(a, other, inline(PNG));
  const leaseUntil = new Date(a.clock.now().getTime() + 60_000);
  const taken = { next_look_at: leaseUntil, leased_by: 'f'.repeat(32) };
  await a.database.queries.updateTable('files').set(taken).where('guid', '=', guid).execute();
  a.clock.advance(59_999);
  await a.fileProcessing.drain();
  assert.equal((await showFile(a, other, guid)).state, 'storing');
  a.clock.advance(1);
  await a.fileProcessing.drain();
  assert.equal((await showFile(a, other, guid)).state, 'completed');
});

test('content whose upload was not recorded before a crash is found when the link expires', async () => {
  const { app: crashed, owner: other } = await createOwned();
  const local = await listenTo(crashed);
  const { guid, upload_url: url } = await createFile(crashed, other);
  assert.equal((await upload(local(url), PNG)).status, 200);
  // As if the process had died before recording the upload.
  const expiresAt = new Date(crashed.clock.now().getTime() + 900_000);
  const before = { uploaded_at: null, next_look_at: expiresAt };
  await crashed.database.queries.updateTable('files').set(before).where('guid', '=', guid).execute();
  crashed.clock.advance(900_000);
  await crashed.fileProcessing.drain();
  assert.equal((await showFile(crashed, other, guid)).state, 'completed');
});

test('a second upload also records content that a crash left unrecorded', async () => {
  const { app: crashed, owner: other } = await createOwned();
  const local = await listenTo(crashed);
  const { guid, upload_url: url } = await createFile(crashed, other);
  await upload(local(url), PNG);
  await crashed.database.queries
    .updateTable('files')
    .set({ uploaded_at: null })
    .where('guid', '=', guid)
    .execute();
  assert.equal((await upload(local(url), PNG)).body.message_code, 'upload_completed');
  await crashed.fileProcessing.drain();
  assert.equal((await showFile(crashed, other, guid)).state, 'completed');
});

test('inline content without a record is deleted after an hour', async () => {
  const { app: crashed, owner: other } = await createOwned();
  const { guid } = await createFile(crashed, other, inline(PNG));
  const dueAt = new Date(crashed.clock.now().getTime() + 3_600_000);
  await crashed.database.queries.deleteFrom('files').where('guid', '=', guid).execute();
  await crashed.database.queries.insertInto('file_deletions').values({ guid, due_at: dueAt }).execute();
  crashed.clock.advance(3_599_999);
  await crashed.clusterTasks.runOnce();
  assert.deepEqual(await storedIn(crashed), [guid]);
  crashed.clock.advance(1);
  await crashed.clusterTasks.runOnce();
  assert.deepEqual(await storedIn(crashed), []);
  assert.deepEqual(await crashed.database.queries.selectFrom('file_deletions').selectAll().execute(), []);
});

test('an upload stored after its file had failed is deleted as an orphan', async () => {
  const { app: crashed, owner: other } = await createOwned();
  const { guid } = await createFile(crashed, other, { content_type: 'application/pdf', ...inline(PNG) });
  const { guid: kept } = await createFile(crashed, other, inline(PNG));
  await crashed.fileProcessing.drain();
  assert.equal((await showFile(crashed, other, guid)).failure_code, 'content_type_mismatch');
  const waiting = await createFile(crashed, other, inline(PNG));
  const dayAgo = new Date(crashed.clock.now().getTime() - 24 * 3_600_000 - 1);
  const path = (name: string) => join(crashed.dataDir, 'files', name.slice(-2), name.slice(-4, -2), name);
  // The second upload of the link: it is stored, but no record mentions it.
  await mkdir(dirname(path(guid)), { recursive: true });
  await writeFile(path(guid), PNG);
  await crashed.clusterTasks.runOnce();
  assert.deepEqual((await storedIn(crashed)).sort(), [guid, kept, waiting.guid].sort(), 'too young to judge');

  for (const name of [guid, kept, waiting.guid]) await utimes(path(name), dayAgo, dayAgo);
  await crashed.clusterTasks.runOnce();
  assert.ok((await storedIn(crashed)).includes(guid), 'one pass a day');
  crashed.clock.advance(24 * 3_600_000);
  await crashed.clusterTasks.runOnce();
  assert.deepEqual((await storedIn(crashed)).sort(), [kept, waiting.guid].sort());
  assert.ok(crashed.logged.some((line) => line.includes('deleted orphaned content')));
});

test('missing content is retried with growing pauses and logged', async () => {
  const { app: lost, owner: other } = await createOwned();
  const { guid } = await createFile(lost, other, inline(PNG));
  const [folder, away] = [join(lost.dataDir, 'files'), join(lost.dataDir, 'away')];
  await rename(folder, away);
  await lost.fileProcessing.drain();
  assert.equal((await rowOf(lost, guid)).next_look_at?.getTime(), lost.clock.now().getTime() + 1_000);
  lost.clock.advance(8_000);
  await lost.fileProcessing.drain();
  assert.equal((await rowOf(lost, guid)).next_look_at?.getTime(), lost.clock.now().getTime() + 2_000);
  assert.ok(lost.logged.some((line) => line.includes('the storage has no content of file')));
  await rename(away, folder);
  lost.clock.advance(2_000);
  await lost.fileProcessing.drain();
  assert.equal((await showFile(lost, other, guid)).state, 'completed');
});
