import type { Failure } from '../runtime/failure.ts';
import type { RateLimit, RateLimits } from './service.ts';

export type LimitedKey = { limit: RateLimit; key: string };

/** Checks several limits in memory only. */
export function findBlocked(rateLimits: RateLimits, keys: readonly LimitedKey[]): Failure | undefined {
  for (const { limit, key } of keys) {
    const refusal = rateLimits.blocked(limit, key);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Counts against several limits. Writes nothing once one of them is known to be exhausted. */
export async function countAll(
  rateLimits: RateLimits,
  keys: readonly LimitedKey[],
): Promise<Failure | undefined> {
  const refusal = findBlocked(rateLimits, keys);
  if (refusal) return refusal;
  const counted = await Promise.all(keys.map(({ limit, key }) => rateLimits.use(limit, key)));
  return counted.find((result) => result !== undefined);
}
