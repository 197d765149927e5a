import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import { watchQueue } from './queue-metrics.ts';

test('the backlog is read every five seconds, also after the clock was set back', async () => {
  const clock = createFakeClock();
  const metrics = createMetrics();
  let reads = 0;
  const transaction = async () => {
    reads += 1;
    return { waiting: reads, oldestDueAt: null };
  };
  const database = { transaction } as unknown as Database;
  watchQueue({ metrics, clock, database, figures: () => ({ inFlight: 0, held: 0, limited: 0 }) });
  const start = clock.now().getTime();
  for (const [afterMs, expected] of [
    [0, 1],
    [4_999, 1],
    [5_000, 2],
    [-3_600_000, 3],
    [-3_596_000, 3],
  ] as const) {
    clock.set(new Date(start + afterMs));
    await metrics.read();
    assert.equal(reads, expected, `after ${afterMs} ms`);
  }
});
