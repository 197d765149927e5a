import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import {
  createFile,
  createFileOwner,
  type HttpAnswer,
  listenTo,
  PNG,
  send,
  showFile,
  storedIn,
  upload,
} from '../../../testing/objects/files.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';
import { RENEW_LEASE_EVERY_MS } from './upload-lease.ts';

/** One upload per link at a time, on two nodes with one database and one folder. */
const testDatabase = await createTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'portico-test-'));
const shared = { testDatabase, dataDir, clock: createFakeClock() };
const [app, otherNode] = [await createTestApp(shared), await createTestApp(shared)];
after(async () => {
  await testDatabase.drop();
  await rm(dataDir, { recursive: true, force: true });
});
const nodes = [await listenTo(app), await listenTo(otherNode)] as const;
const tenant = await createFileOwner(app);
const owner = { ...tenant, token: () => userToken(app, tenant.organizationGuid) };
const HEADERS = { 'content-type': 'image/png', 'content-length': PNG.length };
const { clock } = shared;

/** An upload that pauses one byte before its end. */
function hold(url: string) {
  const { outgoing, answer } = send('PUT', url, HEADERS, PNG.subarray(0, -1));
  return { outgoing, answer, finish: () => outgoing.end(PNG.subarray(-1)) };
}

async function createLinks() {
  const { guid, upload_url: url } = await createFile(app, owner);
  return { guid, here: nodes[0](url), there: nodes[1](url) };
}

function rowOf(guid: string) {
  return app.database.queries
    .selectFrom('files')
    .select(['upload_leased_by', 'upload_leased_until', 'pending_bytes', 'next_look_at'])
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
}

const isLeased = (guid: string) => async () => (await rowOf(guid)).upload_leased_by !== null;

/** An upload whose content is being written: the time of the first renewal is set. */
async function beginWriting(url: string) {
  const stored = (await storedIn(app)).length;
  const held = hold(url);
  await until(async () => (await storedIn(app)).length > stored, 'it is being written');
  return held;
}

function assertInProgress({ status, body, headers }: HttpAnswer): void {
  assert.deepEqual([status, body.message_code], [409, 'upload_in_progress']);
  assert.ok(Number(headers['retry-after']) > 0);
}

test('of six concurrent uploads on one link one proceeds, and the others get Retry-After', async () => {
  const { guid, here, there } = await createLinks();
  const first = hold(here);
  await until(isLeased(guid), 'it has begun');
  for (const url of [here, there, here, there, here]) assertInProgress(await upload(url, PNG));
  await until(async () => (await storedIn(app)).length === 1, 'only the first is written');
  first.finish();
  assert.equal((await first.answer).status, 200);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'completed');
  assert.deepEqual((await rowOf(guid)).upload_leased_by, null);
});

test('an upload that is cut off releases its link at once', async () => {
  const { guid, here, there } = await createLinks();
  const { next_look_at: linkEnd } = await rowOf(guid);
  const first = hold(here);
  await until(isLeased(guid), 'it has begun');
  first.outgoing.destroy();
  await until(async () => !(await isLeased(guid)()), 'it is free');
  const { pending_bytes, next_look_at } = await rowOf(guid);
  assert.deepEqual([pending_bytes, next_look_at], [null, linkEnd], 'and expires with its link');
  assert.equal((await upload(there, PNG)).status, 200);
});

test('the link of a dead node is usable when its lease expires', async () => {
  const { guid, there } = await createLinks();
  const upload_leased_until = new Date(clock.now().getTime() + 15_000);
  const died = { upload_leased_by: 'f'.repeat(32), upload_leased_until };
  await app.database.queries.updateTable('files').set(died).where('guid', '=', guid).execute();
  assertInProgress(await upload(there, PNG));
  clock.advance(14_999);
  assertInProgress(await upload(there, PNG));
  clock.advance(1);
  assert.equal((await upload(there, PNG)).status, 200);
});

test('the lease is renewed during the upload', async () => {
  const { guid, here, there } = await createLinks();
  const first = await beginWriting(here);
  const leasedUntil = async () => (await rowOf(guid)).upload_leased_until ?? new Date(0);
  for (let renewals = 0; renewals < 6; renewals++) {
    const before = await leasedUntil();
    clock.advance(RENEW_LEASE_EVERY_MS);
    assert.ok(before > clock.now(), 'the lease expired');
    await until(async () => (await leasedUntil()) > before, 'it is renewed');
  }
  assertInProgress(await upload(there, PNG));
  first.finish();
  assert.equal((await first.answer).status, 200);
});

test('an upload that lost its lease to another node ends and does not affect the other', async () => {
  const { guid, here } = await createLinks();
  const first = await beginWriting(here);
  const upload_leased_until = new Date(clock.now().getTime() + 60_000);
  const taken = { upload_leased_by: 'f'.repeat(32), upload_leased_until };
  await app.database.queries.updateTable('files').set(taken).where('guid', '=', guid).execute();
  clock.advance(RENEW_LEASE_EVERY_MS);
  await until(() => app.logged.some((line) => line.includes('lost the lease on an upload')), 'it knows');
  first.finish();
  assertInProgress(await first.answer);
  assert.equal((await rowOf(guid)).upload_leased_by, 'f'.repeat(32));
});
