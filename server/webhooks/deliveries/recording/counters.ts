import type { Outcome } from '../delivery.ts';

/** Bounds of the histogram of response times in `delivery_counters`, in ms; one more bucket holds the rest. */
export const RESPONSE_TIME_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000];

const MINUTE_MS = 60_000;

/** Counts of one subscription in one minute. */
export type Counts = {
  subscriptionGuid: string;
  minute: Date;
  completed: number;
  failedAttempts: number;
  responseTimes: number[];
};

export function countOutcomes(outcomes: readonly Outcome[]): Counts[] {
  const bySubscription = new Map<string, Counts>();
  for (const { delivery, result, endedAt, durationMs } of outcomes) {
    const minute = Math.floor(endedAt.getTime() / MINUTE_MS) * MINUTE_MS;
    const counts = countsOf(bySubscription, delivery.subscriptionGuid, minute);
    if (result !== 'completed') counts.failedAttempts += 1;
    else {
      counts.completed += 1;
      const bucket = bucketOf(durationMs);
      counts.responseTimes[bucket] = (counts.responseTimes[bucket] ?? 0) + 1;
    }
  }
  return [...bySubscription.values()];
}

function countsOf(found: Map<string, Counts>, subscriptionGuid: string, minute: number): Counts {
  const key = `${subscriptionGuid}${minute}`;
  const known = found.get(key);
  if (known) return known;
  const counts = {
    subscriptionGuid,
    minute: new Date(minute),
    completed: 0,
    failedAttempts: 0,
    responseTimes: new Array<number>(RESPONSE_TIME_BOUNDS_MS.length + 1).fill(0),
  };
  found.set(key, counts);
  return counts;
}

function bucketOf(durationMs: number): number {
  const bucket = RESPONSE_TIME_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return bucket === -1 ? RESPONSE_TIME_BOUNDS_MS.length : bucket;
}
