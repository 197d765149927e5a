import type { Outcome } from '../delivery.ts';

/** Bounds of the histogram of response times in `delivery_counters`, in ms; one more bucket holds the rest. */
export const RESPONSE_TIME_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000];

const MINUTE_MS = 60_000;

/** Counts of one subscription in one minute. */
export type Counts = {
  subscriptionGuid: string;
  minute: Date;
  completed: number;
  /** Of these, after a failed attempt. */
  completedByRetry: number;
  failedAttempts: number;
  timeouts: number;
  /** Deliveries without another attempt. */
  failed: number;
  responseTimes: number[];
};

export function countOutcomes(outcomes: readonly Outcome[]): Counts[] {
  const bySubscription = new Map<string, Counts>();
  for (const { delivery, result, endedAt, durationMs, nextAttemptAt } of outcomes) {
    const counts = countsOf(bySubscription, delivery.subscriptionGuid, minuteOf(endedAt));
    if (result !== 'completed') {
      counts.failedAttempts += 1;
      if (result === 'timeout') counts.timeouts += 1;
      if (nextAttemptAt === undefined) counts.failed += 1;
    } else {
      counts.completed += 1;
      if (delivery.attemptCount > 0) counts.completedByRetry += 1;
      const bucket = bucketOf(durationMs);
      counts.responseTimes[bucket] = (counts.responseTimes[bucket] ?? 0) + 1;
    }
  }
  return [...bySubscription.values()];
}

/** Deliveries that failed without an attempt, because their subscription no longer delivers. */
export function countFailed(subscriptionGuid: string, at: Date, failed: number): Counts {
  return { ...noCounts(subscriptionGuid, minuteOf(at)), failed };
}

function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS;
}

function countsOf(found: Map<string, Counts>, subscriptionGuid: string, minute: number): Counts {
  const key = `${subscriptionGuid}${minute}`;
  const known = found.get(key);
  if (known) return known;
  const counts = noCounts(subscriptionGuid, minute);
  found.set(key, counts);
  return counts;
}

function noCounts(subscriptionGuid: string, minute: number): Counts {
  return {
    subscriptionGuid,
    minute: new Date(minute),
    completed: 0,
    completedByRetry: 0,
    failedAttempts: 0,
    timeouts: 0,
    failed: 0,
    responseTimes: new Array<number>(RESPONSE_TIME_BOUNDS_MS.length + 1).fill(0),
  };
}

function bucketOf(durationMs: number): number {
  const bucket = RESPONSE_TIME_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return bucket === -1 ? RESPONSE_TIME_BOUNDS_MS.length : bucket;
}
