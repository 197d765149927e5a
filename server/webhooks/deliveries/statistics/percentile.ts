import { RESPONSE_TIME_BOUNDS_MS } from '../recording/counters.ts';
import { EXCHANGE_TIMEOUT_MS } from '../sending/exchange.ts';

/** The exchange timeout bounds the last bucket. */
const UPPER_BOUNDS_MS = [...RESPONSE_TIME_BOUNDS_MS, EXCHANGE_TIMEOUT_MS];

/**
 * Percentile of a histogram, with linear interpolation within a bucket. Timeouts took the whole exchange timeout.
 * Undefined without responses and timeouts.
 */
export function percentileMs(
  responseTimes: readonly number[],
  share: number,
  timeouts = 0,
): number | undefined {
  const total = responseTimes.reduce((sum, count) => sum + count, timeouts);
  const wanted = total * share;
  let before = 0;
  for (const [bucket, count] of responseTimes.entries()) {
    if (count > 0 && before + count >= wanted) {
      const lower = UPPER_BOUNDS_MS[bucket - 1] ?? 0;
      const upper = UPPER_BOUNDS_MS[bucket] ?? EXCHANGE_TIMEOUT_MS;
      return Math.ceil(lower + ((upper - lower) * (wanted - before)) / count);
    }
    before += count;
  }
  return timeouts > 0 ? EXCHANGE_TIMEOUT_MS : undefined;
}
