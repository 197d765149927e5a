import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PLANTED_BUGS } from './planted/bugs.ts';
import { findBug } from './planted/run.ts';
import type { SeedReport } from './seed.ts';
import { createServers } from './servers.ts';
import { runTasks } from './workers.ts';

/** Seeds of the long run (`npm run simulate -- --seeds 200`) that `npm test` has time for. */
const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

/** Simulated a second time: it has objects, files and a disk that fails. */
const REPEATED = 5;

const servers = createServers();
after(() => servers.stop());

// At once: the end of any seed shows that the file does not hang.
describe('every check holds in a week of faults', { concurrency: true }, () => {
  const waiting = new Map(SEEDS.map((seed) => [seed, Promise.withResolvers<SeedReport>()]));
  const again = Promise.withResolvers<SeedReport>();
  const finished = new Set<number>();
  const running = runTasks(
    [...SEEDS, REPEATED].map((seed) => ({ seed, days: 7, without: [] })),
    {
      servers,
      onReport(report) {
        const { resolve } = finished.has(report.seed) ? again : (waiting.get(report.seed) ?? again);
        finished.add(report.seed);
        resolve(report);
        return undefined;
      },
    },
  );
  running.catch((error) => {
    for (const { promise, reject } of [...waiting.values(), again]) {
      promise.catch(() => undefined);
      reject(error);
    }
  });
  for (const [seed, { promise }] of waiting)
    test(`seed ${seed}`, async () => {
      const { failure, tail } = await promise;
      assert.equal(failure, undefined, `npm run simulate -- --seed ${seed} --trace\n${tail.join('\n')}`);
    });

  test('a seed repeats step for step', async () => {
    const first = await waiting.get(REPEATED)?.promise;
    assert.deepEqual(await again.promise, first);
    assert.ok(first && first.steps > 1_000);
  });
});

test('a planted bug is found', async () => {
  const bug = PLANTED_BUGS.find(({ name }) => name === 'the signature covers the body without its last byte');
  assert.ok(bug);
  const { failure } = await findBug(bug, { servers, maxSeeds: 1 });
  assert.match(failure, /the signature is wrong/);
});
