import type { Queries } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { type Use, updateLastUsed } from './store.ts';

/** Last use of each key, written to the database in batches. */
export type KeyUsage = ReturnType<typeof createKeyUsage>;

const MAX_PENDING = 10_000;

export function createKeyUsage({ queries, clock }: { queries: Queries; clock: Clock }) {
  let pending = new Map<string, Use>();

  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    const uses = [...pending.values()];
    pending = new Map();
    try {
      await updateLastUsed(queries, uses);
    } catch (error) {
      // Kept for the next flush; a later use of the same key wins.
      pending = new Map([...uses.map((use) => [use.clientId, use] as const), ...pending]);
      throw error;
    }
  }

  return {
    record(clientId: string, ip: string | undefined): void {
      if (pending.size >= MAX_PENDING && !pending.has(clientId)) return;
      pending.set(clientId, { clientId, at: clock.now(), ip });
    },
    /** Last use that is not flushed yet. */
    latest: (clientId: string): Use | undefined => pending.get(clientId),
    flush,
  };
}
