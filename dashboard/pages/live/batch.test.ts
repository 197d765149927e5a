import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatch } from './batch.ts';

test('attempts that arrive together are passed on once, newest first, and no more than can be shown', ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const passed: (readonly number[])[] = [];
  const batch = createBatch<number>({ intervalMs: 100, maxItems: 3 }, (items) => passed.push(items));
  for (const item of [1, 2, 3, 4]) batch.add(item);
  assert.deepEqual(passed, []);
  mock.timers.tick(100);
  assert.deepEqual(passed, [[4, 3, 2]]);
  batch.add(5);
  batch.flush();
  mock.timers.tick(100);
  assert.deepEqual(passed, [[4, 3, 2], [5]]);
});
