import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteEach, MAX_FAILURES } from './delete-each.ts';

test('an item that cannot be deleted keeps no other', async () => {
  const tried: number[] = [];
  const deleting = deleteEach([1, 2, 3], async (item) => {
    tried.push(item);
    if (item === 1) throw new Error('refused');
    return true;
  });
  await assert.rejects(deleting, /delete 1 of the unfinished uploads/);
  assert.deepEqual(tried, [1, 2, 3]);
});

test('a store that refuses every deletion is left for the next sweep', async () => {
  let tried = 0;
  const deleting = deleteEach(Array(100).keys(), async () => {
    tried += 1;
    throw new Error('unreachable');
  });
  await assert.rejects(deleting);
  assert.equal(tried, MAX_FAILURES);
});
