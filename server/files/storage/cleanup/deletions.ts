import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { later } from '../../processing/poll-schedule.ts';
import * as queue from '../../processing/queue-store.ts';
import type { Storage } from '../storage.ts';

export type Removals = ReturnType<typeof createRemovals>;

/** Removals that one node is at; another tries again after the time below. */
const BATCH = 100;
const RETRY_AFTER_MS = 600_000;
/** Older than any upload that may still be coming in, or any link that is still good. */
const LEFTOVER_AFTER_MS = 24 * 3_600_000;
/** There are few, and to find them a whole folder or bucket may have to be listed. */
const LEFTOVERS_EVERY_MS = 3_600_000;

/** Content that must not stay. What is to go stands in the database first, so nothing is forgotten by a crash. */
export function createRemovals({
  database: { queries },
  clock,
  storage,
}: {
  database: Database;
  clock: Clock;
  storage: Storage;
}) {
  let leftoversSweptAt = 0;

  return {
    /** What was just entered to go now. Should it fail, the sweep comes by. */
    async removeNow(guid: string, dueAt: Date): Promise<void> {
      await storage.remove(guid);
      await queue.deleteRemovals(queries, [guid], dueAt);
    },

    /** Everything whose time has come; gives how many. */
    async sweep(): Promise<number> {
      let total = 0;
      for (;;) {
        const now = clock.now();
        const until = later(now, RETRY_AFTER_MS);
        const due = await queue.claimRemovals(queries, now, until, BATCH);
        for (const guid of due) await storage.remove(guid);
        if (due.length > 0) await queue.deleteRemovals(queries, due, until);
        total += due.length;
        if (due.length < BATCH) return total;
      }
    },

    /** What uploads left behind that never ended. */
    async sweepLeftovers(): Promise<number> {
      const now = clock.now();
      if (now.getTime() < leftoversSweptAt + LEFTOVERS_EVERY_MS) return 0;
      leftoversSweptAt = now.getTime();
      return storage.sweepTemporary(later(now, -LEFTOVER_AFTER_MS));
    },
  };
}
