import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { type Storage, StorageError } from '../storage.ts';
import { createOrphans } from './orphans.ts';

const app = await createTestApp();
const { clock, guids } = app;

test('an orphan that cannot be deleted keeps neither the others nor the pages after it', async () => {
  const [bad = '', good = '', last = ''] = Array.from({ length: 3 }, () => guids.next()).sort();
  const storedAt = new Date(clock.now().getTime() - 48 * 3_600_000);
  const pages = [
    { contents: [bad, good].map((guid) => ({ guid, storedAt })), next: 'page 2' },
    { contents: [{ guid: last, storedAt }], next: undefined },
  ];
  const deleted: string[] = [];
  const storage = {
    listContent: async (after) => pages[after === undefined ? 0 : 1],
    async delete(guid) {
      if (guid === bad) throw new StorageError('delete', 'access denied');
      deleted.push(guid);
    },
  } as Storage;
  const orphans = createOrphans({ ...app, storage });
  assert.deepEqual([await orphans.sweep(), await orphans.sweep()], [1, 1]);
  assert.deepEqual(deleted, [good, last]);
  assert.ok(app.logged.some((line) => line.includes('could not delete orphaned') && line.includes(bad)));
});
