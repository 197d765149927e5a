import assert from 'node:assert/strict';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { issueToken } from '../../testing/api/api-callers.ts';
import { type Answer, assertError, createTestApp } from '../../testing/app/app.ts';
import {
  createFile,
  createFileOwner,
  inline,
  listenTo,
  PNG,
  postFile,
  send,
  showFile,
  storedIn,
} from '../../testing/objects/files.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { until } from '../../testing/webhooks/webhooks.ts';

/** `DELETE /api/files/{guid}`, and the records of downloads. */
const app = await createTestApp({ environment: { PORTICO_MAX_PENDING_FILES: '3' } });
const owner = await createFileOwner(app);
const local = await listenTo(app);

function remove(guid: string, token = owner.token): Promise<Answer> {
  return app.call({ method: 'DELETE', url: `/api/files/${guid}`, token });
}

async function completed(): Promise<string> {
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  return guid;
}

async function verify(guid: string): Promise<Answer> {
  const payload = {
    ...{ type: 'kyc', method: 'document_submission', file_guids: [guid] },
    ...{ customer_guid: owner.customerGuid, bank_guid: owner.bankGuid },
  };
  const token = await issueToken(app, owner, 'organization');
  return app.call({ method: 'POST', url: '/api/identity_verifications', token, payload });
}

async function actionsOn(guid: string) {
  const records = await app.database.queries
    .selectFrom('audit_records')
    .select(['action', 'changes'])
    .where('object_id', '=', guid)
    .orderBy('guid')
    .execute();
  return records.map(({ action, changes }) => [action, changes] as const);
}

test('a deleted file and its content are gone, and the deletion is recorded', async () => {
  const guid = await completed();
  const { sha256, download_url: link } = await showFile(app, owner, guid, '?include_download_url=true');
  assert.deepEqual(await storedIn(app), [guid]);
  assert.equal((await remove(guid)).status, 204);
  assertError(await app.call({ url: `/api/files/${guid}`, token: owner.token }), 404, 'not_found');
  assertError(await remove(guid), 404, 'not_found');
  const { answer, outgoing } = send('GET', local(link));
  outgoing.end();
  assert.equal((await answer).status, 404);
  assert.deepEqual(await storedIn(app), []);
  assert.deepEqual(await app.database.queries.selectFrom('file_deletions').selectAll().execute(), []);
  assert.deepEqual((await actionsOn(guid)).at(-1), [
    'file.delete',
    { customer_guid: owner.customerGuid, type: 'utility_bill', sha256 },
  ]);
});

test('every link to the content is recorded, other requests are not', async () => {
  const guid = await completed();
  await showFile(app, owner, guid);
  await showFile(app, owner, guid, '?include_download_url=true');
  const { guid: stored } = await createFile(app, owner);
  await showFile(app, owner, stored, '?include_download_url=true');
  const changes = { customer_guid: owner.customerGuid, type: 'utility_bill' };
  const downloads = (await actionsOn(guid)).filter(([action]) => action === 'file.download');
  assert.deepEqual(downloads, [['file.download', changes]]);
  assert.deepEqual(
    (await actionsOn(stored)).map(([action]) => action),
    ['file.create'],
  );
  await remove(stored);
});

test('a file that a verification refers to is kept, also one that the core reported', async () => {
  const [used, reported, free] = [await completed(), await completed(), await completed()];
  assert.equal((await verify(used)).status, 201);
  const details = { type: 'kyc', method: 'attested', file_guids: [reported] };
  await reportObject(app, 'identity_verification', owner, { details });
  for (const guid of [used, reported]) {
    assertError(await remove(guid), 409, 'file_in_use', new RegExp(`file_guid=${guid}`));
    await showFile(app, owner, guid);
  }
  assert.equal((await remove(free)).status, 204);
});

test('of a deletion and a reference at the same time exactly one succeeds', async () => {
  for (let round = 0; round < 8; round += 1) {
    const guid = await completed();
    const [deletion, reference] = await Promise.all([remove(guid), verify(guid)]);
    assert.deepEqual(
      [deletion.status, reference.status],
      deletion.status === 204 ? [204, 422] : [409, 201],
      `round ${round}`,
    );
  }
});

test('files in state storing and failed can be deleted, and leave the quota', async () => {
  const files = [await createFile(app, owner), await createFile(app, owner), await createFile(app, owner)];
  assertError(await postFile(app, owner), 422, 'pending_files_limit_reached');
  for (const { guid } of files) assert.equal((await remove(guid)).status, 204);
  const { guid } = await createFile(app, owner, inline('not a picture'));
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, guid)).state, 'failed');
  assert.equal((await remove(guid)).status, 204);
});

test('an upload that is under way leaves nothing behind', async () => {
  const before = await storedIn(app);
  const { guid, upload_url: link } = await createFile(app, owner);
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const { outgoing, answer } = send('PUT', local(link), headers, PNG.subarray(0, 10));
  await until(async () => (await storedIn(app)).length > before.length, 'the upload has begun');
  assert.equal((await remove(guid)).status, 204);
  outgoing.end(PNG.subarray(10));
  assert.equal((await answer).status, 404);
  assert.deepEqual(await storedIn(app), before);
});

test('a file that waits for processing can be deleted; another tenant gets 404', async () => {
  const { guid } = await createFile(app, owner, inline(PNG));
  const stranger = await createFileOwner(app);
  assertError(await remove(guid, stranger.token), 404, 'not_found');
  assert.equal((await remove(guid)).status, 204);
  await app.fileProcessing.drain();
  assert.ok(!(await storedIn(app)).includes(guid));
});

test('content that the storage cannot delete is deleted later', async () => {
  const guid = await completed();
  const entries = await readdir(join(app.dataDir, 'files'), { recursive: true });
  const path = join(app.dataDir, 'files', entries.find((entry) => entry.endsWith(guid)) ?? '');
  await rm(path);
  await mkdir(path);
  assert.equal((await remove(guid)).status, 204);
  assert.ok(app.logged.some((line) => line.includes('could not delete content; will retry')));
  await rmdir(path);
  await writeFile(path, PNG);
  app.clock.advance(1_000);
  await app.clusterTasks.runOnce();
  assert.ok(!(await storedIn(app)).includes(guid));
});
