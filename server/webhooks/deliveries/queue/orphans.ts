import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { lockBatches, ofDeadDispatchers, requeueLockedBatches } from './batch-store.ts';
import { releaseOrphans } from './orphan-store.ts';

/**
 * A transaction that makes deliveries for a dispatcher may commit after that dispatcher was taken for dead and its
 * deliveries were given to the others. These were not among them, and nobody would ever send them.
 */
export function createOrphans({ database, log }: { database: Database; log: Log }) {
  return {
    /** Back into the queue; gives how many. */
    async sweepOrphans(): Promise<number> {
      const released = await database.transaction(async (transaction) => {
        const batches = await lockBatches(transaction, ofDeadDispatchers);
        const queued = await releaseOrphans(transaction);
        await preferIndexes(transaction);
        return queued + (await requeueLockedBatches(transaction, batches));
      });
      if (released > 0)
        log.warn({ deliveries: released }, 'deliveries of a dispatcher that is gone were found');
      return released;
    },
  };
}
