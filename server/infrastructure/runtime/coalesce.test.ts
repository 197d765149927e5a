import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { coalesce } from './coalesce.ts';

function createHeldWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  const run = coalesce(() => {
    const held = Promise.withResolvers<void>();
    runs.push(held);
    return held.promise;
  });
  return { runs, run };
}

test('calls during a run share one further run', async () => {
  const { runs, run } = createHeldWork();
  const calls = [run(), run(), run()];
  assert.equal(runs.length, 1);
  runs[0]?.resolve();
  await turn();
  assert.equal(runs.length, 2);
  runs[1]?.resolve();
  await Promise.all(calls);
  assert.equal(runs.length, 2);
});

test('a call right after the last run starts another', async () => {
  const { runs, run } = createHeldWork();
  const first = run();
  runs[0]?.resolve();
  await first;
  void run();
  assert.equal(runs.length, 2);
});

test('a failed run rejects its callers and does not block the next call', async () => {
  const { runs, run } = createHeldWork();
  const first = run();
  runs[0]?.reject(new Error('connection refused'));
  await assert.rejects(first, /connection refused/);
  void run();
  assert.equal(runs.length, 2);
});
