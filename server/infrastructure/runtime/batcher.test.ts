import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBatcher, Overloaded } from './batcher.ts';

/** A batcher whose runs are recorded and end when the test says so. */
function createHeld(maxBatch: number) {
  const runs: { inputs: readonly number[]; end: PromiseWithResolvers<void> }[] = [];
  const started = [Promise.withResolvers<void>()];
  const batcher = createBatcher<number, string>({
    maxBatch,
    async run(inputs) {
      const end = Promise.withResolvers<void>();
      runs.push({ inputs, end });
      started.at(-1)?.resolve();
      started.push(Promise.withResolvers());
      await end.promise;
      return inputs.map((input) => `<${input}>`);
    },
  });
  return { batcher, runs, untilRun: (index: number) => started[index]?.promise };
}

test('concurrent calls share the first run', async () => {
  const { batcher, runs, untilRun } = createHeld(10);
  const answers = [1, 2, 3].map(batcher);
  await untilRun(0);
  runs[0]?.end.resolve();
  assert.deepEqual(await Promise.all(answers), ['<1>', '<2>', '<3>']);
  assert.deepEqual(
    runs.map(({ inputs }) => inputs),
    [[1, 2, 3]],
  );
});

test('calls that arrive during a run are batched into the next one', async () => {
  const { batcher, runs, untilRun } = createHeld(10);
  const first = batcher(1);
  await untilRun(0);
  const later = [2, 3, 4].map(batcher);
  assert.equal(runs.length, 1);
  runs[0]?.end.resolve();
  assert.equal(await first, '<1>');
  await untilRun(1);
  runs[1]?.end.resolve();
  assert.deepEqual(await Promise.all(later), ['<2>', '<3>', '<4>']);
  assert.deepEqual(
    runs.map(({ inputs }) => inputs),
    [[1], [2, 3, 4]],
  );
});

test('a run never exceeds the limit and keeps the order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), fc.integer({ min: 1, max: 7 }), async (inputs, maxBatch) => {
      const runs: (readonly number[])[] = [];
      const batcher = createBatcher<number, number>({
        maxBatch,
        run: async (batch) => {
          runs.push(batch);
          return batch.map((input) => input * 2);
        },
      });
      assert.deepEqual(
        await Promise.all(inputs.map(batcher)),
        inputs.map((input) => input * 2),
      );
      assert.deepEqual(runs.flat(), inputs);
      assert.equal(runs.length, Math.ceil(inputs.length / maxBatch));
      assert.ok(runs.every((run) => run.length <= maxBatch));
    }),
    { numRuns: 50 },
  );
});

test('an error rejects only the calls of its own run', async () => {
  const batcher = createBatcher<number, number>({
    maxBatch: 2,
    async run(inputs) {
      if (inputs.includes(3)) throw new Error('the disk is full');
      return inputs;
    },
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(batcher));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    [1, 2, 'the disk is full', 'the disk is full', 5],
  );
  assert.equal(await batcher(6), 6);
});

test('a run that throws synchronously or returns too few outputs rejects its calls, and the batcher continues', async () => {
  let mode = 'throw';
  const batcher = createBatcher<number, number>({
    maxBatch: 10,
    run(inputs) {
      if (mode === 'throw') throw new Error('at once');
      return Promise.resolve(mode === 'short' ? inputs.slice(1) : inputs);
    },
  });
  await assert.rejects(batcher(1), /at once/);
  mode = 'short';
  await assert.rejects(batcher(1), /one output per input/);
  mode = 'well';
  assert.equal(await batcher(1), 1);
});

test('a call after 20,000 waiting ones fails at once, and the others succeed', async () => {
  const { batcher, runs, untilRun } = createHeld(100_000);
  const first = batcher(0);
  await untilRun(0);
  const waiting = Array.from({ length: 20_000 }, (_, index) => batcher(index));
  await assert.rejects(batcher(1), Overloaded);
  runs[0]?.end.resolve();
  await first;
  await untilRun(1);
  runs[1]?.end.resolve();
  assert.equal((await Promise.all(waiting)).length, 20_000);
});
