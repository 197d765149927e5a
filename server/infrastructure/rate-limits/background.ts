import type { Queries } from '../database/database.ts';
import type { Timers } from '../runtime/clock.ts';
import { createDelayedFlush } from '../runtime/delayed-flush.ts';
import type { Log } from '../runtime/log.ts';
import { countUses, type Use } from './store.ts';

/** Uses of one key within this time are one write. */
const WRITE_EVERY_MS = 5_000;
/** From so many uses on a key is written soon, because other nodes must learn of it. */
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
      const keys = [...waiting.keys()];
      for (let start = 0; start < keys.length; start += KEYS_PER_STATEMENT)
        if (!(await write(keys.slice(start, start + KEYS_PER_STATEMENT)))) return;
    },
  });

  /** Takes the uses right before their statement: until then an exact count finds them here. */
  async function write(keys: readonly string[]): Promise<boolean> {
    const uses = keys.flatMap((key) => waiting.get(key) ?? []);
    for (const { key } of uses) waiting.delete(key);
    if (uses.length === 0) return true;
    try {
      const counts = await countUses(queries, uses);
      counts.forEach((used, index) => {
        learn(uses[index] as Use, used);
      });
      return true;
    } catch (error) {
      log.warn({ err: error }, 'could not write rate limit counts');
      for (const use of uses) keep(use);
      return false;
    }
  }

  /** False when the buffer is full or has uses of another window. */
  function keep(use: Use): boolean {
    const known = waiting.get(use.key);
    if (known && !isSameWindow(known, use)) return false;
    if (known) known.times += use.times;
    else if (waiting.size >= MAX_KEYS) return false;
    else waiting.set(use.key, { ...use });
    return true;
  }

  function writeSoon(): void {
    if (isSoon) return;
    isSoon = true;
    flushing.cancel();
    flushing.schedule(WRITE_SOON_MS);
  }

  /** Uses of this key in this window that are not written yet. */
  function buffered(use: Omit<Use, 'times'>): number {
    const known = waiting.get(use.key);
    return known && isSameWindow(known, use) ? known.times : 0;
  }

  return {
    buffered,

    /** False when the caller has to count the use itself. */
    add(use: Use): boolean {
      const isKept = keep(use);
      if (!isKept || buffered(use) >= MANY_USES || waiting.size > MAX_KEYS / 2) writeSoon();
      else flushing.schedule();
      return isKept;
    },

    /** Removes and returns the buffered uses, for an exact count. */
    take(use: Omit<Use, 'times'>): number {
      const times = buffered(use);
      if (times > 0) waiting.delete(use.key);
      return times;
    },

    flush: flushing.flush,
  };
}

function isSameWindow(one: Omit<Use, 'times'>, other: Omit<Use, 'times'>): boolean {
  return one.windowStartedAt.getTime() === other.windowStartedAt.getTime();
}
