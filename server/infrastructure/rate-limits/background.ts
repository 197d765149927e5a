import type { Queries } from '../database/database.ts';
import type { Timers } from '../runtime/clock.ts';
import { createDelayedFlush } from '../runtime/delayed-flush.ts';
import type { Log } from '../runtime/log.ts';
import { countUses, type Use } from './store.ts';

/** Uses of one key within this time are one write. */
const WRITE_EVERY_MS = 5_000;
/** A key that is used often is written at once, because other nodes must learn of it. */
const MANY_USES = 50;
const WRITE_SOON_MS = 10;
const MAX_KEYS = 10_000;
const KEYS_PER_STATEMENT = 500;

/**
 * Counts uses in memory and writes them in batches, without delaying the caller. A crash loses a few seconds of a count
 * that is far from its limit.
 */
export function createBackgroundCount({
  queries,
  timers,
  log,
  learn,
}: {
  queries: Queries;
  timers: Timers;
  log: Log;
  learn(use: Use, used: number): void;
}) {
  const waiting = new Map<string, Use>();
  let isSoon = false;

  const flushing = createDelayedFlush({
    timers,
    delayMs: WRITE_EVERY_MS,
    async write() {
      isSoon = false;
      const uses = [...waiting.values()];
      waiting.clear();
      for (let start = 0; start < uses.length; start += KEYS_PER_STATEMENT)
        await write(uses.slice(start, start + KEYS_PER_STATEMENT));
    },
  });

  async function write(uses: readonly Use[]): Promise<void> {
    try {
      const counts = await countUses(queries, uses);
      counts.forEach((used, index) => {
        learn(uses[index] as Use, used);
      });
    } catch (error) {
      log.warn({ err: error }, 'could not write rate limit counts');
    }
  }

  function writeSoon(): void {
    if (isSoon) return;
    isSoon = true;
    flushing.cancel();
    flushing.schedule(WRITE_SOON_MS);
  }

  return {
    /** False when the buffer is full; the caller counts the use itself then. */
    add(use: Use): boolean {
      const known = waiting.get(use.key);
      if (known?.windowStartedAt.getTime() === use.windowStartedAt.getTime()) known.times += use.times;
      else if (known || waiting.size >= MAX_KEYS) return false;
      else waiting.set(use.key, { ...use });
      if ((known?.times ?? 0) >= MANY_USES || waiting.size > MAX_KEYS / 2) writeSoon();
      else flushing.schedule();
      return true;
    },

    /** Removes and returns the buffered uses of this key in this window, for an exact count. */
    take({ key, windowStartedAt }: Omit<Use, 'times'>): number {
      const known = waiting.get(key);
      if (known?.windowStartedAt.getTime() !== windowStartedAt.getTime()) return 0;
      waiting.delete(key);
      return known.times;
    },

    flush: flushing.flush,
  };
}
