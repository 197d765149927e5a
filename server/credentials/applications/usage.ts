import type { Queries } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { type Use, updateLastUsed } from './store.ts';

/** Remembers when and from where each key was last used, and writes that down in batches: no write per call. */
export type KeyUsage = ReturnType<typeof createKeyUsage>;

const MAX_WAITING = 10_000;

export function createKeyUsage({ queries, clock }: { queries: Queries; clock: Clock }) {
  let waiting = new Map<string, Use>();

  async function flush(): Promise<void> {
    if (waiting.size === 0) return;
    const uses = [...waiting.values()];
    waiting = new Map();
    try {
      await updateLastUsed(queries, uses);
    } catch (error) {
      // The next round tries again, with what came later where something did.
      waiting = new Map([...uses.map((use) => [use.clientId, use] as const), ...waiting]);
      throw error;
    }
  }

  return {
    record(clientId: string, ip: string | undefined): void {
      if (waiting.size >= MAX_WAITING && !waiting.has(clientId)) return;
      waiting.set(clientId, { clientId, at: clock.now(), ip });
    },
    /** The last use that is not written down yet. */
    latest: (clientId: string): Use | undefined => waiting.get(clientId),
    flush,
  };
}
