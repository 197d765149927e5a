import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createFile, createFileOwner, inline, PNG } from '../../../testing/objects/files.ts';
import { claimFiles, type Work } from './queue-store.ts';

/** Files are claimed round-robin over Organizations, so that a long queue of one does not delay another. */
const app = await createTestApp();
const { queries } = app.database;
const [busy, quiet] = [await createFileOwner(app), await createFileOwner(app)];
const FIRST = '0'.repeat(32);

async function claim(work: Work, after: string, limit: number) {
  const now = app.clock.now();
  const lease = { by: 'f'.repeat(32), until: new Date(now.getTime() + 60_000) };
  return claimFiles(queries, { work, now, lease, after, limit });
}

for (const [work, given] of [
  ['process', inline(PNG)],
  ['poll', {}],
] as const)
  test(`a claim for ${work} takes one file of each Organization`, async () => {
    for (let n = 0; n < 6; n++) await createFile(app, busy, given);
    const { guid } = await createFile(app, quiet, given);
    app.clock.advance(900_000);
    const first = await claim(work, FIRST, 4);
    assert.equal(first.files.length, 2);
    assert.ok(
      first.files.some((file) => file.guid === guid),
      'the one file of the quiet Organization',
    );
    assert.equal(first.next, undefined, 'every Organization was visited');

    const second = await claim(work, FIRST, 1);
    assert.deepEqual(
      [second.files.map((file) => file.organization_guid), second.next],
      [[busy.organizationGuid], busy.organizationGuid],
    );
    assert.deepEqual(await claim(work, busy.organizationGuid, 4), { files: [], next: undefined });
    await queries.deleteFrom('files').execute();
  });
