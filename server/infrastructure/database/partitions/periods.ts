/** The time that a partition covers. */
export type Range = { from: Date; to: Date };
/** Of an existing partition, in milliseconds; null for unbounded. */
export type Bounds = { from: number | null; to: number | null };
/** How old a new row may be, and how long the task may fail before an insert does. */
export type Margins = { behindMs: number; aheadMs: number };

export const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** Weeks begin on Monday, 00:00 UTC; the epoch was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** An event may have a guid that is seven days old; one more day for clock differences. */
const BEHIND_MS = 8 * DAY_MS;
/** In advance: two periods within these limits. A lower retention has shorter partitions only after those. */
const MIN_AHEAD_MS = 4 * DAY_MS;
const MAX_AHEAD_MS = 8 * WEEK_MS;
/** A statement locks and plans every partition, so a long retention has longer partitions instead of more. */
const MAX_PERIODS_KEPT = 16;

/** Length of a partition: a day, a week, or a multiple of four weeks. */
export function periodMs(daysKept: number): number {
  if (daysKept <= MAX_PERIODS_KEPT) return DAY_MS;
  if (daysKept <= MAX_PERIODS_KEPT * 7) return WEEK_MS;
  return Math.ceil(daysKept / (MAX_PERIODS_KEPT * 28)) * 4 * WEEK_MS;
}

/** History is dropped by whole partitions, so rows may outlive the retention by one. */
export function maxAgeMs(daysKept: number): number {
  return daysKept * DAY_MS + periodMs(daysKept);
}

/** The periods into which rows can be inserted from now until some periods from now, without a gap. */
export function periodsAround(
  now: Date,
  ms: number,
  { behindMs, aheadMs }: Margins = marginsOf(ms),
): Range[] {
  const periods: Range[] = [];
  const until = now.getTime() + aheadMs;
  for (let from = periodStart(now.getTime() - behindMs, ms); from <= until; from += ms)
    periods.push({ from: new Date(from), to: new Date(from + ms) });
  return periods;
}

export function marginsOf(ms: number): Margins {
  return { behindMs: BEHIND_MS, aheadMs: Math.min(Math.max(2 * ms, MIN_AHEAD_MS), MAX_AHEAD_MS) };
}

export function periodStart(moment: number, ms: number): number {
  return FIRST_MONDAY_MS + Math.floor((moment - FIRST_MONDAY_MS) / ms) * ms;
}

/**
 * The parts of the range without a partition; with another retention, partitions had another length. Without those that
 * end before `since`: no row can arrive there, and a process with a shorter retention would drop them again.
 */
export function gapsIn(
  partitions: readonly Bounds[],
  range: Range,
  since = Number.NEGATIVE_INFINITY,
): Range[] {
  const gaps: Range[] = [];
  let start = range.from.getTime();
  const end = range.to.getTime();
  const taken = partitions
    .map(({ from, to }) => ({ from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY }))
    .toSorted((one, other) => one.from - other.from);
  for (const { from, to } of taken) {
    if (from >= end) break;
    if (from > start) gaps.push({ from: new Date(start), to: new Date(from) });
    start = Math.max(start, to);
  }
  if (start < end) gaps.push({ from: new Date(start), to: range.to });
  return gaps.filter(({ to }) => to.getTime() > since);
}
