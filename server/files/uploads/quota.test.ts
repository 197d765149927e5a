import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { userToken } from '../../../testing/app/tenant.ts';
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
  upload,
} from '../../../testing/objects/files.ts';
import { until } from '../../../testing/webhooks/webhooks.ts';

/** The quota of pending files per Organization, and the minimum of free disk space. */
const MAX_BYTES = 3 * PNG.length;
const MINUTE_MS = 60_000;

async function createOwned(environment: Record<string, string>) {
  const app = await createTestApp({ environment });
  const tenant = await createFileOwner(app);
  return { app, owner: { ...tenant, token: () => userToken(app, tenant.organizationGuid) } };
}

const LIMIT = 'pending_files_limit_reached';

test('the number of files in state storing is limited, also under concurrent creation', async () => {
  const { app, owner } = await createOwned({ PORTICO_MAX_PENDING_FILES: '5' });
  const token = await owner.token();
  const given = (n: number) => (n % 2 ? inline(PNG) : {});
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => postFile(app, { ...owner, token }, given(n))),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    assertError(answer, 422, LIMIT, /5 files/);
    assert.ok(Number(answer.headers['retry-after']) > 0);
  }
  await createFile(app, await createFileOwner(app));
  // Completed and expired files leave the quota.
  app.clock.advance(15 * MINUTE_MS);
  await app.fileProcessing.drain();
  await createFile(app, owner, inline(PNG));
});

test('the bytes of files in state storing are limited, inline and by upload', async () => {
  const { app, owner } = await createOwned({
    PORTICO_MAX_PENDING_BYTES: String(MAX_BYTES),
    PORTICO_MAX_UPLOAD_BYTES: String(MAX_BYTES),
  });
  const local = await listenTo(app);
  const [one, two] = [await createFile(app, owner), await createFile(app, owner)];
  await createFile(app, owner, inline(PNG));
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const held = send('PUT', local(one.upload_url), headers, PNG.subarray(0, 10));
  await until(async () => (await storedIn(app)).length === 2, 'it has begun');

  const double = Buffer.concat([PNG, PNG]);
  assertError(await upload(local(two.upload_url), double), 422, LIMIT, /bytes/);
  assertError(await postFile(app, owner, inline(double)), 422, LIMIT, /bytes/);
  held.outgoing.destroy();
  await until(async () => (await storedIn(app)).length === 1, 'it is gone');
  await until(
    async () => (await upload(local(two.upload_url), double)).status === 200,
    'its bytes leave the quota',
  );
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, owner, two.guid)).state, 'completed');
  await createFile(app, owner, inline(double));
});

test('low disk space: 503, and nothing is written', async () => {
  const { app, owner } = await createOwned({ PORTICO_MIN_FREE_DISK_BYTES: String(500 * 1024 ** 4) });
  const local = await listenTo(app);
  const { guid, upload_url: url } = await createFile(app, owner);
  for (const answer of [await upload(local(url), PNG), await postFile(app, owner, inline(PNG))]) {
    assertError(answer, 503, 'overloaded');
    assert.ok(Number(answer.headers['retry-after']) > 0);
  }
  assert.deepEqual(await storedIn(app), []);
  assert.deepEqual(await app.database.queries.selectFrom('file_deletions').selectAll().execute(), []);
  assert.equal((await showFile(app, owner, guid)).state, 'storing', 'the link is still valid');
  assert.ok(app.logged.some((line) => line.includes('free disk space is low')));
});
