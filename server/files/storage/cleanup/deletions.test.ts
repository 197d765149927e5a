import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';
import { type Storage, StorageError } from '../storage.ts';
import { claimDeletions, insertDeletion } from './cleanup-store.ts';
import { createDeletions } from './deletions.ts';

const app = await createTestApp();
const { clock, guids, database } = app;
const { queries } = database;

/** A storage that cannot delete some content, and what it has deleted. */
function createStubborn(undeletable: readonly string[], onDelete = () => {}) {
  const deleted: string[] = [];
  const storage = {
    async delete(guid: string) {
      if (undeletable.includes(guid)) throw new StorageError('delete', 'access denied');
      deleted.push(guid);
      onDelete();
    },
  } as Storage;
  return { deleted, deletions: createDeletions({ ...app, storage }) };
}

async function scheduled(count: number): Promise<string[]> {
  const created = Array.from({ length: count }, () => guids.next());
  for (const guid of created) await insertDeletion(queries, guid, clock.now());
  return created;
}

async function remaining(): Promise<string[]> {
  const rows = await queries.selectFrom('file_deletions').select('guid').orderBy('guid').execute();
  return rows.map(({ guid }) => guid);
}

test('content that cannot be deleted keeps no other content, and is tried again', async () => {
  const [bad = '', ...others] = await scheduled(5);
  const { deleted, deletions } = createStubborn([bad]);
  assert.equal(await deletions.sweep(), 4);
  assert.deepEqual(deleted.sort(), others);
  assert.deepEqual(await remaining(), [bad]);
  assert.ok(app.logged.some((line) => line.includes('could not delete content') && line.includes(bad)));
  assert.equal(await deletions.sweep(), 0, 'not before ten minutes');
  clock.advance(600_000);
  assert.equal(await createStubborn([]).deletions.sweep(), 1);
  assert.deepEqual(await remaining(), []);
});

test('content that cannot be deleted at once is left to the sweep', async () => {
  const [bad = ''] = await scheduled(1);
  await createStubborn([bad]).deletions.deleteNow(bad, clock.now());
  assert.ok(app.logged.some((line) => line.includes('could not delete content') && line.includes(bad)));
  assert.equal(await createStubborn([]).deletions.sweep(), 1);
});

test('a sweep ends after ten failures, and the next one continues with deletions that were not tried', async () => {
  const bad = await scheduled(10);
  clock.advance(1);
  const others = await scheduled(5);
  const { deleted, deletions } = createStubborn(bad);
  assert.equal(await deletions.sweep(), 0);
  assert.equal(await deletions.sweep(), 5);
  assert.deepEqual(deleted.sort(), others);
  clock.advance(600_000);
  assert.equal(await createStubborn([]).deletions.sweep(), 10);
});

test('a sweep ends after ten seconds, and the next one goes on with the rest, which is due at once', async () => {
  const created = await scheduled(25);
  const { deleted, deletions } = createStubborn([], () => clock.advance(1_000));
  assert.equal(await deletions.sweep(), 10);
  assert.deepEqual(await remaining(), created.slice(10));
  assert.deepEqual([await deletions.sweep(), await deletions.sweep()], [10, 5]);
  assert.deepEqual(deleted, created);
});

test('a deletion is taken over, unless a sweep may have claimed it', async () => {
  const { deletions } = createStubborn([]);
  const [guid = ''] = await scheduled(1);
  const ofImport = (days: number) => new Date(clock.now().getTime() + days * 24 * 3_600_000);
  assert.ok(await deletions.takeOver(guids.next(), ofImport(14)), 'not scheduled before');
  assert.ok(await deletions.takeOver(guid, ofImport(14)), 'due');
  assert.ok(await deletions.takeOver(guid, ofImport(15)), 'of an earlier import');
  clock.advance(15 * 24 * 3_600_000);
  const claimedUntil = new Date(clock.now().getTime() + 600_000);
  assert.ok((await claimDeletions(queries, clock.now(), claimedUntil, 10)).includes(guid));
  assert.equal(await deletions.takeOver(guid, ofImport(14)), false);
  clock.advance(600_000);
  assert.ok(await deletions.takeOver(guid, ofImport(14)), 'the claim has ended');
  clock.advance(15 * 24 * 3_600_000);
  await deletions.sweep();
});
