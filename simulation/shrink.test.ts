import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeShrunk, shrink } from './shrink.ts';

const FAULTS = Array.from({ length: 9 }, (_, index) => ({
  ...{ at: index * 1_000, isFault: true },
  action: { kind: 'cut', node: index } as const,
}));

/** Fails while every one of these faults is there. */
function createSeed(needed: readonly number[]) {
  const runs: string[] = [];
  return {
    runs,
    shrunk: () =>
      shrink({
        ...{ faults: FAULTS, without: [] },
        async run(without) {
          runs.push(without.join());
          if (needed.every((index) => !without.includes(index)))
            return `a.1 sends ${'ab'.repeat(16)} ${runs.length}.5 ms late\nstack`;
          return without.includes(8) ? 'a failure of another kind' : undefined;
        },
        write: () => {},
      }),
  };
}

test('only the faults that the failure needs are left', async () => {
  const { shrunk, runs } = createSeed([2, 7]);
  const result = await shrunk();
  assert.deepEqual(result.without, [0, 1, 3, 4, 5, 6, 8]);
  assert.equal(new Set(runs).size, runs.length, 'nothing is simulated twice');
  const text = describeShrunk(result, { faults: 9, repeat: 'npm run simulate -- --seed 5' });
  assert.match(text, /It needs 2 of 9 faults:\n {2}after 2\.0 s: cut node=2\n {2}after 7\.0 s: cut node=7\n/);
  assert.match(text, /--seed 5 --without 0,1,3,4,5,6,8 --trace/);
});

test('a failure that needs no fault, and a seed that passes, are named', async () => {
  const { shrunk } = createSeed([]);
  const result = await shrunk();
  assert.equal(result.without.length, 9);
  assert.match(describeShrunk(result, { faults: 9, repeat: '' }), /without any of its 9 faults/);
  const passed = { failure: undefined, needed: [], without: [] };
  assert.match(describeShrunk(passed, { faults: 9, repeat: '' }), /passes/);
});
