import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { type Clock, hasPassed } from '../../../infrastructure/runtime/clock.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { selectBacklog } from './queue-metrics-store.ts';

/** Limits the database load of frequent scrapes. */
const BACKLOG_EVERY_MS = 5_000;
/** Per subscription. */
const MAX_COUNTED = 100_000;

type Deps = {
  metrics: Metrics;
  clock: Clock;
  database: Database;
  figures(): { inFlight: number; held: number; limited: number };
};

export function watchQueue({ metrics, clock, database, figures }: Deps): void {
  let readAt = 0;

  metrics.onRead(async () => {
    const { inFlight, held, limited } = figures();
    metrics.deliveriesInFlight.set(inFlight);
    metrics.deliveriesHeld.set(held);
    metrics.lanesLimited.set(limited);
    const now = clock.now();
    if (!hasPassed(BACKLOG_EVERY_MS, readAt, now.getTime())) return;
    readAt = now.getTime();
    const { waiting, oldestDueAt } = await database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      return selectBacklog(transaction, MAX_COUNTED);
    });
    metrics.deliveriesWaiting.set(waiting);
    const lateMs = oldestDueAt === null ? 0 : now.getTime() - oldestDueAt.getTime();
    metrics.oldestWaitingSeconds.set(Math.max(0, lateMs) / 1_000);
  });
}
