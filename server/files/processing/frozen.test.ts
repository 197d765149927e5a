import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { userToken } from '../../../testing/app/tenant.ts';
import {
  createFile,
  createFileOwner,
  inline,
  PNG,
  showFile,
  storedIn,
} from '../../../testing/objects/files.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createDeletions } from '../storage/cleanup/deletions.ts';
import { createFolderStorage } from '../storage/folder/folder.ts';
import { createLinks } from '../storage/folder/links.ts';
import { folderPollSchedule } from './poll-schedule.ts';
import { PROCESSING_LEASE_MS } from './process-file.ts';
import { createProcessing } from './processing.ts';

/** Nothing of a frozen Organization changes: an export may have read its files already. */
const app = await createTestApp();
const { clock, guids, database, encryption } = app;
const owner = await createFileOwner(app);
const { organizationGuid } = owner;
const caller = { ...owner, token: () => userToken(app, organizationGuid) };
const folder = join(app.dataDir, 'files');
const links = createLinks({ uploadUrl: 'http://upload.test', encryption, clock });
const storage = createFolderStorage({ folder, links, guids, minFreeBytes: 0 });

async function freeze(): Promise<void> {
  assert.ok(!isFailure(await app.transfers.freeze(operator, organizationGuid)));
}

async function unfreeze(): Promise<void> {
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, organizationGuid)));
}

const rows = () => database.queries.selectFrom('files').selectAll().orderBy('guid').execute();

/** Claims and handles due files once, with a storage and an inspection that the Organization is frozen during. */
async function processWhile(changed: Partial<Parameters<typeof createProcessing>[0]>): Promise<void> {
  const processing = createProcessing({
    ...{ ...app, timers: clock, storage, pollSchedule: folderPollSchedule },
    deletions: createDeletions({ ...app, storage }),
    inspect: async () => assert.fail('nothing to inspect'),
    ...changed,
  });
  assert.equal(await processing.claim(), 1);
  await processing.idle();
}

test('files of a frozen Organization are not claimed until it is unfrozen', async () => {
  const [uploaded, awaited] = [await createFile(app, owner, inline(PNG)), await createFile(app, owner)];
  await freeze();
  clock.advance(2 * 3_600_000);
  const before = await rows();
  await app.fileProcessing.drain();
  assert.deepEqual(await rows(), before);
  await unfreeze();
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, caller, uploaded.guid)).state, 'completed');
  assert.equal((await showFile(app, caller, awaited.guid)).failure_code, 'upload_expired');
});

test('a file whose Organization is frozen during the inspection stays storing, with its content', async () => {
  const { guid } = await createFile(app, caller, inline(PNG));
  await processWhile({
    async inspect() {
      await freeze();
      return { failureCode: 'infected', size: PNG.length };
    },
  });
  const [row] = (await rows()).filter((file) => file.guid === guid);
  assert.deepEqual([row?.failed_at, row?.completed_at], [null, null]);
  assert.ok((await storedIn(app)).includes(guid));
  await unfreeze();
  clock.advance(PROCESSING_LEASE_MS);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, caller, guid)).state, 'completed');
});

test('an upload that a poll finds during the freeze is recorded afterwards', async () => {
  const { guid } = await createFile(app, caller);
  clock.advance(2 * 3_600_000);
  let frozenRow: unknown;
  const rowOf = async () => (await rows()).find((file) => file.guid === guid);
  await processWhile({
    storage: {
      ...storage,
      async head() {
        await freeze();
        frozenRow = await rowOf();
        return { size: PNG.length };
      },
    },
  });
  assert.deepEqual(await rowOf(), frozenRow);
  await unfreeze();
  await storage.put(guid, toStream(PNG), { contentType: 'image/png', maxBytes: 1_000 });
  clock.advance(PROCESSING_LEASE_MS);
  await app.fileProcessing.drain();
  assert.equal((await showFile(app, caller, guid)).state, 'completed');
});

async function* toStream(content: Uint8Array) {
  yield content;
}
