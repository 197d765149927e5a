import type { Queries } from '../database/database.ts';
import type { Log } from '../runtime/log.ts';
import { releaseOrphans } from './orphan-store.ts';

/**
 * A transaction that makes deliveries for a dispatcher may commit after that dispatcher was taken for dead and its
 * deliveries were given to the others. These were not among them, and nobody would ever send them.
 */
export function createOrphans({ queries, log }: { queries: Queries; log: Log }) {
  return {
    /** Back into the queue; gives how many. */
    async sweepOrphans(): Promise<number> {
      const released = await releaseOrphans(queries);
      if (released > 0)
        log.warn({ deliveries: released }, 'deliveries of a dispatcher that is gone were found');
      return released;
    },
  };
}
