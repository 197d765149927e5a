import type { Database, Ending } from '../../../infrastructure/database/database.ts';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import { createDelayedFlush } from '../../../infrastructure/runtime/delayed-flush.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { type Counts, countFailed } from './counters.ts';
import { addCounts } from './record-store.ts';

export type CreatedAsFailed = ReturnType<typeof createCreatedAsFailed>;

const FLUSH_AFTER_MS = 5_000;
/** Counts in memory; further ones are dropped while the database is unavailable. */
const MAX_WAITING = 10_000;

type Deps = { database: Database; timers: Timers; log: Log; metrics: Metrics };

/**
 * Counts deliveries to disabled subscriptions in memory, after the commit: a counter row in the transaction of an event
 * would stay locked until its commit, and the events of others would wait. A crash loses some seconds of a chart.
 */
export function createCreatedAsFailed({ database, timers, log, metrics }: Deps) {
  let waiting = new Map<string, Counts>();

  function add(counts: Counts): void {
    const key = `${counts.subscriptionGuid}${counts.minute.getTime()}`;
    const known = waiting.get(key);
    if (known) known.failed += counts.failed;
    else if (waiting.size < MAX_WAITING) waiting.set(key, counts);
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const counts = [...waiting.values()];
    waiting = new Map();
    let ending: Ending = 'rolled back';
    try {
      await database.transaction((transaction) => {
        database.onEnd(transaction, (known) => {
          ending = known;
        });
        return addCounts(transaction, counts);
      });
    } catch (error) {
      log.warn({ reason: String(error) }, 'could not write counts of failed deliveries');
      // Repeated after a commit whose response was lost, they would count twice.
      if ((ending as Ending) === 'unknown') return;
      for (const each of counts) add(each);
      flushing.schedule();
    }
  }

  const flushing = createDelayedFlush({ timers, delayMs: FLUSH_AFTER_MS, write });

  return {
    note(subscriptionGuid: string, at: Date, failed: number): void {
      add(countFailed(subscriptionGuid, at, failed));
      metrics.deliveries.inc({ state: 'failed' }, failed);
      flushing.schedule();
    },

    /** `last` is for a shutdown: counts that cannot be written then are lost. */
    async flush({ last = false } = {}): Promise<void> {
      await flushing.flush();
      if (last) flushing.cancel();
    },
  };
}
