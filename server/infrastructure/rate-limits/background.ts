import { setTimeout as pause } from 'node:timers/promises';
import type { Queries } from '../database/database.ts';
import type { Log } from '../runtime/log.ts';
import { countUses, type Use } from './store.ts';

const WRITE_EVERY_MS = 10;
const MAX_KEYS = 10_000;

/**
 * Counts uses in memory and writes them in batches, without delaying the caller. A crash loses a few milliseconds of a
 * count that is far from its limit.
 */
export function createBackgroundCount({
  queries,
  log,
  learn,
}: {
  queries: Queries;
  log: Log;
  learn(use: Use, used: number): void;
}) {
  const waiting = new Map<string, Use>();
  let writing: Promise<void> | undefined;

  async function writeSoon(): Promise<void> {
    while (waiting.size > 0) {
      await pause(WRITE_EVERY_MS);
      const uses = [...waiting.values()];
      waiting.clear();
      try {
        const counts = uses.length === 0 ? [] : await countUses(queries, uses);
        counts.forEach((used, index) => {
          learn(uses[index] as Use, used);
        });
      } catch (error) {
        log.warn({ err: error }, 'could not write rate limit counts');
      }
    }
    writing = undefined;
  }

  return {
    /** False when the buffer is full; the caller counts the use itself then. */
    add(use: Use): boolean {
      const known = waiting.get(use.key);
      if (known?.windowStartedAt.getTime() === use.windowStartedAt.getTime()) known.times += use.times;
      else if (known || waiting.size >= MAX_KEYS) return false;
      else waiting.set(use.key, { ...use });
      writing ??= writeSoon();
      return true;
    },

    /** Removes and returns the buffered uses of this key in this window, for an exact count. */
    take({ key, windowStartedAt }: Omit<Use, 'times'>): number {
      const known = waiting.get(key);
      if (known?.windowStartedAt.getTime() !== windowStartedAt.getTime()) return 0;
      waiting.delete(key);
      return known.times;
    },

    flush: async () => writing,
  };
}
