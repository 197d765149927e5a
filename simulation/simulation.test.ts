import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANTED_BUGS } from './planted/bugs.ts';
import { findBug } from './planted/run.ts';
import type { SeedReport } from './seed.ts';
import { runTasks, type Task } from './workers.ts';

/** Seeds of the long run (`npm run simulate -- --seeds 200`) that `npm test` has time for. */
const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

async function simulate(tasks: readonly Task[]): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  await runTasks(tasks, {
    processes: 2,
    onReport(report) {
      reports.push(report);
      return undefined;
    },
  });
  return reports;
}

test('every check holds in twenty weeks of faults', async () => {
  const reports = await simulate(SEEDS.map((seed) => ({ seed, days: 7, without: [] })));
  for (const { seed, failure, tail } of reports)
    assert.equal(failure, undefined, `npm run simulate -- --seed ${seed} --trace\n${tail.join('\n')}`);
});

test('a planted bug is found', async () => {
  const bug = PLANTED_BUGS.find(({ name }) => name === 'the signature covers the body without its last byte');
  assert.ok(bug);
  const { failure } = await findBug(bug, 1);
  assert.match(failure, /the signature is wrong/);
});

test('a seed repeats step for step', async () => {
  const task = { seed: 8, days: 7, without: [] };
  const [first, second] = await simulate([task, task]);
  assert.deepEqual(second, first);
  assert.ok(first && first.steps > 1_000);
});
