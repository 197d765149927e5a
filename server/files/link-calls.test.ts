import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../testing/app.ts';
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
} from '../../testing/files.ts';
import { createTenant, tokenOf } from '../../testing/tenant.ts';

/** More than the database has connections for calls. */
const FLOOD = 12;
const MAX_POLLS = 5_000;

const app = await createTestApp();
const local = await listenTo(app);
const owner = await createFileOwner(app);
const other = await createTenant(app);
const otherToken = await tokenOf(app, other.organizationKey, 'banks:read');

/** Blocks every query of files until `work` is done. */
async function whileFilesAreBlocked(work: () => Promise<void>): Promise<void> {
  await app.database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      await sql`lock table files in access exclusive mode`.execute(transaction);
      await work();
    }),
  );
}

async function lockWaits(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(app.database.reserved);
  return rows[0]?.count ?? 0;
}

/** Sends the call many times while files are blocked, and a call of another Organization meanwhile. */
async function flood(call: () => Promise<HttpAnswer>): Promise<number[]> {
  let answers: Promise<HttpAnswer>[] = [];
  await whileFilesAreBlocked(async () => {
    answers = Array.from({ length: FLOOD }, call);
    for (let polls = 0; (await lockWaits()) === 0; polls++) assert.ok(polls < MAX_POLLS, 'no call waits');
    assert.equal((await app.call({ url: '/api/banks', token: otherToken })).status, 200);
    assert.equal(await lockWaits(), 1, 'one call of the Organization uses the database');
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
