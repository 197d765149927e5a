import type { Queries } from '../database/database.ts';
import { createBatcher } from '../runtime/batcher.ts';
import { setBounded } from '../runtime/bounded-map.ts';
import type { Clock, Timers } from '../runtime/clock.ts';
import { Failure } from '../runtime/failure.ts';
import type { Log } from '../runtime/log.ts';
import { createBackgroundCount } from './background.ts';
import { countUses, deleteWindowsBefore, type Use } from './store.ts';

/**
 * Limits per fixed window, counted in PostgreSQL and shared by all nodes. Concurrent uses are counted in one statement.
 * A key over its limit is cached, so a flood causes no more queries. A key far from its limit is counted in the
 * background, so its caller does not wait.
 */
export type RateLimit = {
  name: string;
  limit: number;
  windowMs: number;
  /** The first tenth does not wait. Each further node may exceed the limit by so much, so not for guesses of secrets. */
  startsInBackground?: boolean;
  /** The code of the rejection; that of the token endpoints by default. */
  code?: 'rate_limit_exceeded' | 'api_rate_limit_exceeded';
};
export type RateLimits = ReturnType<typeof createRateLimits>;

/** Read from the database, plus the uses that were counted here since. */
type Count = { windowStart: number; used: number };

const MAX_BATCH = 500;
const MAX_REMEMBERED_BLOCKS = 10_000;
/** With fewer uses left than this, each use waits for the exact count of all nodes. */
const FAR_FROM_LIMIT = 1_000;
/** Of a limit that `startsInBackground`. */
const BACKGROUND_SHARE = 0.1;
const MAX_REMEMBERED_COUNTS = 10_000;
/** Counters are deleted this long after their window. */
const KEEP_MS = 3_600_000;

export function createRateLimits({
  queries,
  clock,
  timers,
  log,
}: {
  queries: Queries;
  clock: Clock;
  timers: Timers;
  log: Log;
}) {
  const blockedUntil = new Map<string, number>();
  const counts = new Map<string, Count>();
  const countInBatch = createBatcher<Use, number>({
    run: (uses) => countUses(queries, uses),
    maxBatch: MAX_BATCH,
  });
  const background = createBackgroundCount({ queries, timers, log, learn });

  /** Keeps the higher count: an answer may be late, and uses may have been added since. */
  function learn(use: Use, counted: number): void {
    const windowStart = use.windowStartedAt.getTime();
    const known = counts.get(use.key);
    if (known && known.windowStart > windowStart) return;
    const before = known?.windowStart === windowStart ? known.used : 0;
    const used = Math.max(before, counted + background.buffered(use));
    setBounded(counts, use.key, { windowStart, used }, MAX_REMEMBERED_COUNTS);
  }

  /** Answers from memory whether this key is over its limit. */
  function blocked(limit: RateLimit, key: string): Failure | undefined {
    const id = idOf(limit, key);
    const until = blockedUntil.get(id);
    if (until === undefined) return undefined;
    const leftMs = until - clock.now().getTime();
    // More than a window is left after the clock was set back: the key would stay blocked for as long.
    if (leftMs > 0 && leftMs <= limit.windowMs) return refusal(limit, leftMs);
    blockedUntil.delete(id);
    return undefined;
  }

  /**
   * Counts one use; returns a Failure when the limit of this window is exhausted. Synchronous for a key that is far
   * from its limit or over it, so that the hot path of `/api` does not wait.
   */
  function count(limit: RateLimit, key: string): Failure | undefined | Promise<Failure | undefined> {
    const refused = blocked(limit, key);
    if (refused) return refused;
    const id = idOf(limit, key);
    const now = clock.now().getTime();
    const windowStart = now - (now % limit.windowMs);
    const once = { key: id, windowStartedAt: new Date(windowStart), times: 1 };
    const known = counts.get(id);
    // The first use in a window waits, because other nodes may have used the limit up.
    const isFar = known?.windowStart === windowStart && isFarFrom(limit, known.used);
    if (isFar && background.add(once)) {
      known.used += 1;
      return undefined;
    }
    return countExactly(limit, { ...once, times: 1 + background.take(once) });
  }

  async function countExactly(limit: RateLimit, use: Use): Promise<Failure | undefined> {
    const used = await countInBatch(use);
    learn(use, used);
    if (used <= limit.limit) return undefined;
    const windowEnd = use.windowStartedAt.getTime() + limit.windowMs;
    setBounded(blockedUntil, use.key, windowEnd, MAX_REMEMBERED_BLOCKS);
    return refusal(limit, windowEnd - clock.now().getTime());
  }

  return {
    blocked,
    count,
    use: async (limit: RateLimit, key: string) => count(limit, key),
    flush: background.flush,
    sweep: () => deleteWindowsBefore(queries, new Date(clock.now().getTime() - KEEP_MS)),
  };
}

function isFarFrom({ limit, startsInBackground }: RateLimit, used: number): boolean {
  return used + FAR_FROM_LIMIT <= limit || (startsInBackground === true && used < limit * BACKGROUND_SHARE);
}

function idOf(limit: RateLimit, key: string): string {
  return `${limit.name}:${key}`;
}

function refusal({ code = 'rate_limit_exceeded' }: RateLimit, leftMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000));
  return new Failure(code, `Rate limit exceeded; try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  });
}
