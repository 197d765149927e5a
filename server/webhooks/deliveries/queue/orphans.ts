import type { Database } from '../../../infrastructure/database/database.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { releaseOrphans } from './lease-store.ts';

/**
 * Orphaned deliveries: a transaction that leases new deliveries to a dispatcher may commit after another dispatcher
 * took over from it, too late for that takeover to see them.
 */
export function createOrphans({ database, log }: { database: Database; log: Log }) {
  return {
    /** Returns the number of requeued deliveries. */
    async sweepOrphans(): Promise<number> {
      const deliveries = await database.transaction(releaseOrphans);
      if (deliveries > 0) log.warn({ deliveries }, 'requeued orphaned deliveries');
      return deliveries;
    },
  };
}
