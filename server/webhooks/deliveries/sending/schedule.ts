import { later } from '../../../infrastructure/runtime/clock.ts';

/**
 * Retry schedule (specification, Events 6): 2, 4 and 8 s after the first three failures, then the maximum delay with
 * 10 % jitter, until seven days after the delivery was created.
 */
const FIRST_DELAYS_MS = [2_000, 4_000, 8_000];
const JITTER = 0.1;
export const RETRY_PERIOD_MS = 7 * 24 * 3_600_000;

/** Statuses whose Retry-After is honoured (RFC 9110, section 10.2.3). */
const STATUSES_WITH_RETRY_AFTER: ReadonlySet<number> = new Set([429, 503]);

export type FailedAttempt = {
  /** From 1. */
  number: number;
  createdAt: Date;
  endedAt: Date;
  status: number | undefined;
  retryAfter: string | undefined;
};

export type NextAttempt = {
  /** Undefined when the attempt was the last. */
  nextAttemptAt: Date | undefined;
  /** The end of the pause that the endpoint asked for with Retry-After. */
  pausedUntil: Date | undefined;
};

export type Schedule = (attempt: FailedAttempt) => NextAttempt;

export function createSchedule({
  maxDelayMs,
  random,
}: {
  maxDelayMs: number;
  /** Between 0 and 1. */
  random(): number;
}): Schedule {
  return ({ number, createdAt, endedAt, status, retryAfter }) => {
    const jittered = maxDelayMs * (1 - JITTER + 2 * JITTER * random());
    const delayMs = FIRST_DELAYS_MS[number - 1] ?? jittered;
    const asked = STATUSES_WITH_RETRY_AFTER.has(status ?? 0) ? retryAfterMs(retryAfter, endedAt) : 0;
    const pauseMs = Math.min(asked, maxDelayMs);
    const next = later(endedAt, Math.round(Math.max(delayMs, pauseMs)));
    return {
      nextAttemptAt: next <= later(createdAt, RETRY_PERIOD_MS) ? next : undefined,
      pausedUntil: pauseMs > 0 ? later(endedAt, pauseMs) : undefined,
    };
  };
}

function retryAfterMs(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // `Date.parse` alone would accept text such as "busy until 2099".
  const date = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}
