import type { Queries } from '../database/database.ts';
import { createBatcher } from '../runtime/batcher.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure } from '../runtime/failure.ts';
import { countUses, deleteWindowsBefore, type Use } from './store.ts';

/**
 * Limits per fixed window, counted in PostgreSQL and so shared by every node. Calls of the same moment are
 * counted in one statement; a key that is over its limit is remembered here, so a flood costs no more queries.
 */
export type RateLimit = { name: string; limit: number; windowMs: number };
export type RateLimits = ReturnType<typeof createRateLimits>;

const MAX_BATCH = 500;
const MAX_REMEMBERED_BLOCKS = 10_000;
/** Counters are kept this long after their window, then swept. */
const KEEP_MS = 3_600_000;

export function createRateLimits({ queries, clock }: { queries: Queries; clock: Clock }) {
  const blockedUntil = new Map<string, number>();
  const count = createBatcher<Use, number>({ run: (uses) => countUses(queries, uses), maxBatch: MAX_BATCH });

  /** From memory alone: whether this key is known to be over its limit. */
  function blocked(limit: RateLimit, key: string): Failure | undefined {
    const id = idOf(limit, key);
    const until = blockedUntil.get(id);
    if (until === undefined) return undefined;
    const leftMs = until - clock.now().getTime();
    if (leftMs > 0) return refusal(leftMs);
    blockedUntil.delete(id);
    return undefined;
  }

  /** Counts one use; a Failure once the limit of this window is used up. */
  async function use(limit: RateLimit, key: string): Promise<Failure | undefined> {
    const known = blocked(limit, key);
    if (known) return known;
    const now = clock.now().getTime();
    const windowStart = now - (now % limit.windowMs);
    const used = await count({ key: idOf(limit, key), windowStartedAt: new Date(windowStart) });
    if (used <= limit.limit) return undefined;
    const windowEnd = windowStart + limit.windowMs;
    remember(idOf(limit, key), windowEnd);
    return refusal(windowEnd - now);
  }

  function remember(id: string, until: number): void {
    const [oldest] = blockedUntil.keys();
    if (blockedUntil.size >= MAX_REMEMBERED_BLOCKS && oldest !== undefined) blockedUntil.delete(oldest);
    blockedUntil.set(id, until);
  }

  return {
    blocked,
    use,
    sweep: () => deleteWindowsBefore(queries, new Date(clock.now().getTime() - KEEP_MS)),
  };
}

function idOf(limit: RateLimit, key: string): string {
  return `${limit.name}:${key}`;
}

function refusal(leftMs: number): Failure {
  const seconds = Math.ceil(leftMs / 1000);
  return new Failure('rate_limit_exceeded', `Rate limit exceeded; try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  });
}
