import type { Queries } from '../../infrastructure/database/database.ts';
import { type Clock, hasPassed } from '../../infrastructure/runtime/clock.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import { countWaiting } from './queue-store.ts';

/** Metrics need no authentication, so their queries run at most this often. */
const COUNT_EVERY_MS = 5_000;
const MAX_COUNTED = 10_000;

export function watchWaitingFiles({
  metrics,
  clock,
  queries,
}: {
  metrics: Metrics;
  clock: Clock;
  queries: Queries;
}): void {
  let countedAt = 0;

  metrics.onRead(async () => {
    const now = clock.now().getTime();
    if (!hasPassed(COUNT_EVERY_MS, countedAt, now)) return;
    countedAt = now;
    metrics.filesWaiting.set(await countWaiting(queries, MAX_COUNTED));
  });
}
