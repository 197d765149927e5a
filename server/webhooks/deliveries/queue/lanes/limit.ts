import type { Outcome } from '../../delivery.ts';

/**
 * How many requests may be under way to one endpoint: more while it answers as quickly as it can, one when it does not
 * answer at all. When answers take longer the more there are under way, the time is lost in a queue, at the endpoint or
 * here, and more would only make that longer. An endpoint that keeps failing also rests between attempts, so that a
 * dead one with any backlog costs the others next to nothing.
 */
export const START_LIMIT = 2;
/** Each answer adds one, so the limit doubles with every answer time until it is here. */
export const ENOUGH_LIMIT = 16;
const MAX_LIMIT = 64;
/** Endpoints are asked to answer within two seconds (specification, Events 4). */
export const SLOW_MS = 2_000;
/** An endpoint that answers within this time is fast with `ENOUGH_LIMIT`; more at once only cost both sides more. */
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

/**
 * Whether an endpoint gives a place back soon: `responsive` when its last exchange ended before the deadline, whatever
 * came of it, `hanging` when it did not, `unknown` before the first one.
 */
export type Standing = 'responsive' | 'unknown' | 'hanging';

export type Limit = {
  current(): number;
  standing(): Standing;
  /** The last answer was none, or no good one. */
  isFailing(): boolean;
  /** After a failure of an endpoint that keeps failing: how long to leave it alone. */
  restMs(): number;
  learn(outcome: Pick<Outcome, 'result' | 'durationMs'>): void;
};

/** `hasAnswered`: by what is recorded of it, the endpoint took the last delivery that it was sent. */
export function createLimit({ hasAnswered }: { hasAnswered: boolean }): Limit {
  let limit = START_LIMIT;
  let standing: Standing = hasAnswered ? 'responsive' : 'unknown';
  let failures = 0;
  let quickestMs = Number.POSITIVE_INFINITY;
  let answers = 0;

  function learnFromSuccess(durationMs: number): void {
    failures = 0;
    answers += 1;
    quickestMs = answers % REMEMBERED_ANSWERS === 0 ? durationMs : Math.min(quickestMs, durationMs);
    if (durationMs > SLOW_MS) limit = halved(limit);
    else if (limit < ENOUGH_LIMIT) limit += 1;
    else if (durationMs < ENOUGH_MS) limit = Math.max(ENOUGH_LIMIT, limit - 1);
    else if (durationMs <= quickestMs * QUICK_FACTOR + QUICK_MARGIN_MS)
      limit = Math.min(MAX_LIMIT, limit + 1);
    else if (durationMs > quickestMs * QUEUED_FACTOR + QUEUED_MARGIN_MS && limit > ENOUGH_LIMIT) limit -= 1;
  }

  return {
    current: () => limit,
    standing: () => standing,
    isFailing: () => failures > 0,
    restMs: () => (failures >= FAILURES_BEFORE_REST ? REST_MS : 0),
    learn({ result, durationMs }) {
      const hung = result === 'timeout' || (result === 'unreachable' && durationMs > SLOW_MS);
      standing = hung ? 'hanging' : 'responsive';
      if (result === 'completed') return learnFromSuccess(durationMs);
      failures += 1;
      limit = result === 'rejected' ? halved(limit) : 1;
    },
  };
}

function halved(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}
