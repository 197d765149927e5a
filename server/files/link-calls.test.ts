import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../testing/app/app.ts';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';
import { lockWaits, whileTableIsLocked } from '../../testing/database/locks.ts';
import {
  createFile,
  createFileOwner,
  type HttpAnswer,
  inline,
  listenTo,
  PNG,
  send,
  showFile,
  upload,
} from '../../testing/objects/files.ts';
import { until } from '../../testing/webhooks/webhooks.ts';
import { MAX_IN_FLIGHT } from './link-calls.ts';

/** More than the database has connections for calls. */
const FLOOD = 12;
/** More than a response buffers. */
const LARGE = Buffer.concat([PNG, Buffer.alloc(256 * 1024)]);

const app = await createTestApp();
const local = await listenTo(app);
const owner = await createFileOwner(app);
const other = await createTenant(app);
const otherToken = await tokenOf(app, other.organizationKey, 'banks:read');

/** Sends the call many times while files are blocked, and a call of another Organization meanwhile. */
async function flood(call: () => Promise<HttpAnswer>): Promise<number[]> {
  let answers: Promise<HttpAnswer>[] = [];
  await whileTableIsLocked(app.database, 'files', async () => {
    answers = Array.from({ length: FLOOD }, call);
    await until(async () => (await lockWaits(app.database.reserved)) > 0, 'a call that waits');
    assert.equal((await app.call({ url: '/api/banks', token: otherToken })).status, 200);
    assert.equal(await lockWaits(app.database.reserved), 1, 'one call of the Organization uses the database');
  });
  return (await Promise.all(answers)).map(({ status }) => status).sort();
}

test('a flood at a download link leaves the database to other Organizations', async () => {
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  const url = local((await showFile(app, owner, guid, '?include_download_url=true')).download_url);
  const head = () => {
    const { outgoing, answer } = send('HEAD', url);
    outgoing.end();
    return answer;
  };
  assert.deepEqual(await flood(head), Array(FLOOD).fill(200));
});

test('a flood at an upload link leaves the database to other Organizations', async () => {
  const { upload_url: url } = await createFile(app, owner);
  const statuses = await flood(() => upload(local(url), PNG));
  assert.deepEqual(statuses, [200, ...Array(FLOOD - 1).fill(409)]);
});

test('an upload whose content has arrived is recorded while another upload waits for the database', async () => {
  const [arriving, waiting] = [await createFile(app, owner), await createFile(app, owner)];
  const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
  const { outgoing, answer } = send('PUT', local(arriving.upload_url), headers, PNG.subarray(0, 30));
  const files = app.database.reserved.selectFrom('files').select('upload_leased_by');
  const lease = files.where('guid', '=', arriving.guid);
  await until(async () => (await lease.executeTakeFirst())?.upload_leased_by != null, 'the upload has begun');

  let status: number | undefined;
  let other: Promise<HttpAnswer> | undefined;
  await app.database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      const row = transaction.selectFrom('files').select('guid').where('guid', '=', waiting.guid);
      await row.forUpdate().execute();
      other = upload(local(waiting.upload_url), PNG);
      await until(async () => (await lockWaits(app.database.reserved)) > 0, 'the other upload has its turn');
      void answer.then((answered) => {
        status = answered.status;
      });
      outgoing.end(PNG.subarray(30));
      await until(() => status !== undefined, 'the response');
      assert.equal(await lockWaits(app.database.reserved), 1);
    }),
  );
  assert.deepEqual([status, (await other)?.status], [200, 200]);
});

test('downloads that are not read to the end have a limit, which leaves uploads and other Organizations alone', async () => {
  const open: (() => void)[] = [];
  const downloadOf = async (given: typeof owner) => {
    const { guid } = await createFile(app, given, inline(LARGE));
    await app.fileProcessing.drain();
    const { pathname, search } = new URL(
      (await showFile(app, given, guid, '?include_download_url=true')).download_url,
    );
    return async () => {
      const answer = await app.server.inject({ url: `${pathname}${search}`, payloadAsStream: true });
      open.push(() => answer.raw.res.destroy());
      return answer;
    };
  };
  const download = await downloadOf(owner);
  const answers = await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, download));
  assert.ok(answers.every(({ statusCode }) => statusCode === 200));
  const refused = await download();
  assert.equal(refused.statusCode, 429);
  assert.equal(refused.headers['retry-after'], '1');

  const { upload_url: url } = await createFile(app, owner);
  assert.equal((await upload(local(url), PNG)).status, 200);
  const downloadOfOther = await downloadOf(await createFileOwner(app));
  assert.equal((await downloadOfOther()).statusCode, 200);

  open.shift()?.();
  await until(async () => (await download()).statusCode === 200, 'a place of a download that ended');
  for (const close of open) close();
});
