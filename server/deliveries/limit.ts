import type { Outcome } from './delivery.ts';

/**
 * How many requests may be under way to one endpoint: more while it answers as quickly as it can, one when it does not
 * answer at all. When answers take longer the more there are under way, the time is lost in a queue, at the endpoint or
 * here, and more would only make that longer. An endpoint that keeps failing also rests between attempts, so that a
 * dead one with any backlog costs the others next to nothing.
 */
export const FIRST_LIMIT = 16;
const MAX_LIMIT = 64;
/** Receivers are asked to answer within two seconds (specification, Events 4). */
export const SLOW_MS = 2_000;
/** An endpoint that answers within this time is fast with the first limit; more at once only cost both sides more. */
const ENOUGH_MS = 10;
/** As quick as it can be: up to so many times the quickest answer, and what clocks and turns of the loop add. */
const QUICK_FACTOR = 2;
const QUICK_MARGIN_MS = 10;
/** Queued: that much beyond the quickest. */
const QUEUED_FACTOR = 4;
const QUEUED_MARGIN_MS = 50;
/** The quickest of so many answers; then anew, for endpoints change. */
const REMEMBERED_ANSWERS = 1_000;
const FAILURES_BEFORE_REST = 5;
const REST_MS = 50;

export type Limit = {
  current(): number;
  /** The last answer was none, or no good one. */
  isFailing(): boolean;
  /** After a failure of an endpoint that keeps failing: how long to leave it alone. */
  restMs(): number;
  learn(outcome: Pick<Outcome, 'result' | 'durationMs'>): void;
};

export function createLimit(): Limit {
  let limit = FIRST_LIMIT;
  let failures = 0;
  let quickestMs = Number.POSITIVE_INFINITY;
  let answers = 0;

  function learnFromSuccess(durationMs: number): void {
    failures = 0;
    answers += 1;
    quickestMs = answers % REMEMBERED_ANSWERS === 0 ? durationMs : Math.min(quickestMs, durationMs);
    if (durationMs > SLOW_MS) limit = halved(limit);
    else if (durationMs < ENOUGH_MS) limit += Math.sign(FIRST_LIMIT - limit);
    else if (durationMs <= quickestMs * QUICK_FACTOR + QUICK_MARGIN_MS)
      limit = Math.min(MAX_LIMIT, limit + 1);
    else if (durationMs > quickestMs * QUEUED_FACTOR + QUEUED_MARGIN_MS && limit > FIRST_LIMIT) limit -= 1;
  }

  return {
    current: () => limit,
    isFailing: () => failures > 0,
    restMs: () => (failures >= FAILURES_BEFORE_REST ? REST_MS : 0),
    learn({ result, durationMs }) {
      if (result === 'completed') return learnFromSuccess(durationMs);
      failures += 1;
      limit = result === 'rejected' ? halved(limit) : 1;
    },
  };
}

function halved(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}
