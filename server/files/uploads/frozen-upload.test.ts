import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createFile, createFileOwner, PNG } from '../../../testing/objects/files.ts';
import { refusal } from '../../credentials/organizations/freezes.ts';
import { later } from '../../infrastructure/runtime/clock.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { createLog } from '../../infrastructure/runtime/log.ts';
import { createFolderStorage } from '../storage/folder/folder.ts';
import { createLinks } from '../storage/folder/links.ts';
import { createUploads } from './uploads.ts';

const app = await createTestApp();
const { clock, guids, encryption } = app;
const storage = createFolderStorage({
  folder: join(app.dataDir, 'files'),
  links: createLinks({ uploadUrl: 'http://upload.test', encryption, clock }),
  guids,
  minFreeBytes: 0,
});
const owner = await createFileOwner(app);

/** Receives an upload whose Organization is frozen after the content is stored. */
async function receiveWhileFrozen({ beforeFreeze }: { beforeFreeze(guid: string): Promise<void> }) {
  const { guid } = await createFile(app, owner);
  let checks = 0;
  const uploads = createUploads({
    ...{
      ...app,
      timers: clock,
      storage,
      log: createLog({ level: 'silent', terminal: false }),
      onUploaded() {},
    },
    quota: { check: async () => undefined, checkLocked: async () => undefined },
    freezes: {
      async check() {
        checks += 1;
        if (checks === 1) return undefined;
        await beforeFreeze(guid);
        return refusal();
      },
    },
  });
  const terms = {
    guid,
    contentType: 'image/png',
    maxBytes: 1_000,
    expiresAt: later(clock.now(), 60_000),
  };
  const refused = await uploads.receive(terms, PNG.length, toStream(PNG), async (work) => work());
  assert.ok(isFailure(refused));
  assert.equal(refused.code, 'organization_moving');
  return storage.head(guid);
}

async function* toStream(content: Uint8Array) {
  yield content;
}

test('an upload that ends in a freeze leaves no content, because it would not be moved', async () => {
  assert.equal(await receiveWhileFrozen({ beforeFreeze: async () => {} }), undefined);
});

test('content that a poll found before the freeze stays', async () => {
  const stored = await receiveWhileFrozen({
    async beforeFreeze(guid) {
      const now = clock.now();
      await app.database.queries
        .updateTable('files')
        .set({ uploaded_at: now, next_look_at: now })
        .where('guid', '=', guid)
        .execute();
    },
  });
  assert.deepEqual(stored, { size: PNG.length });
});
