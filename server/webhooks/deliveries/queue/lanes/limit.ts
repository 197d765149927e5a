import type { Outcome } from '../../delivery.ts';

/**
 * Adaptive concurrency limit of one endpoint. It grows while the endpoint answers about as fast as its fastest answer
 * and shrinks when response times show queueing. An endpoint that keeps failing also pauses between attempts, so that
 * a dead one with any backlog costs the others almost nothing.
 */
export const START_LIMIT = 2;
/** Below it each answer adds one, so the limit doubles every response time. */
export const ENOUGH_LIMIT = 16;
const MAX_LIMIT = 64;
/** Endpoints have to answer within two seconds (specification, Events 4). */
export const SLOW_MS = 2_000;
/** At this response time `ENOUGH_LIMIT` is fast enough. */
const ENOUGH_MS = 10;
/** Up to this factor and margin above the fastest answer, the limit grows. */
const QUICK_FACTOR = 2;
const QUICK_MARGIN_MS = 10;
/** Beyond this factor and margin, requests are queueing and the limit shrinks. */
const QUEUED_FACTOR = 4;
const QUEUED_MARGIN_MS = 50;
/** The fastest answer is reset after this many answers, because endpoints change. */
const REMEMBERED_ANSWERS = 1_000;
const FAILURES_BEFORE_REST = 5;
const REST_MS = 50;

/** `responsive`: the last exchange ended before its timeout; `hanging`: it did not; `unknown`: none yet. */
export type Standing = 'responsive' | 'unknown' | 'hanging';

export type Limit = {
  current(): number;
  standing(): Standing;
  /** The last attempt failed. */
  isFailing(): boolean;
  /** Pause after a failure of an endpoint that keeps failing. */
  restMs(): number;
  learn(outcome: Pick<Outcome, 'result' | 'durationMs'>): void;
};

/** `hasAnswered`: the last recorded delivery of the endpoint succeeded. */
export function createLimit({ hasAnswered }: { hasAnswered: boolean }): Limit {
  let limit = START_LIMIT;
  let standing: Standing = hasAnswered ? 'responsive' : 'unknown';
  let failures = 0;
  let fastestMs = Number.POSITIVE_INFINITY;
  let answers = 0;

  function learnFromSuccess(durationMs: number): void {
    failures = 0;
    answers += 1;
    fastestMs = answers % REMEMBERED_ANSWERS === 0 ? durationMs : Math.min(fastestMs, durationMs);
    if (durationMs > SLOW_MS) limit = halved(limit);
    else if (limit < ENOUGH_LIMIT) limit += 1;
    else if (durationMs < ENOUGH_MS) limit = Math.max(ENOUGH_LIMIT, limit - 1);
    else if (durationMs <= fastestMs * QUICK_FACTOR + QUICK_MARGIN_MS) limit = Math.min(MAX_LIMIT, limit + 1);
    else if (durationMs > fastestMs * QUEUED_FACTOR + QUEUED_MARGIN_MS && limit > ENOUGH_LIMIT) limit -= 1;
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
