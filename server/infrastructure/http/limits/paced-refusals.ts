import { setBounded } from '../../runtime/bounded-map.ts';
import type { Clock, Timers } from '../../runtime/clock.ts';

/**
 * A client that retries rejected calls at once would keep the process busy with rejections. A limited number of
 * rejections per Organization and second is answered; the others are delayed.
 */
export type PacedRefusals = ReturnType<typeof createPacedRefusals>;

/** Answered without delay; then as many per second. */
const BURST = 100;
const PER_SECOND = 100;
const INTERVAL_MS = 1_000 / PER_SECOND;
/** A rejection that would wait longer is answered at once, which limits the number of waiting ones. */
const MAX_WAIT_MS = 5_000;
const MAX_AHEAD_MS = (BURST + 1) * INTERVAL_MS + MAX_WAIT_MS;
const MAX_ORGANIZATIONS = 10_000;

export function createPacedRefusals({ clock, timers }: { clock: Clock; timers: Timers }) {
  /** The time at which the rejections so far would have been sent at an even pace. */
  const caughtUpAt = new Map<string, number>();

  return (organizationGuid: string, answer: () => void): void => {
    const now = clock.now().getTime();
    const known = caughtUpAt.get(organizationGuid) ?? now;
    // Further ahead only after the clock was set back.
    const at = known > now + MAX_AHEAD_MS ? now : Math.max(now, known);
    const waitMs = at - now - BURST * INTERVAL_MS;
    const isTooLong = waitMs > MAX_WAIT_MS;
    if (!isTooLong) setBounded(caughtUpAt, organizationGuid, at + INTERVAL_MS, MAX_ORGANIZATIONS);
    if (isTooLong || waitMs <= 0) answer();
    else timers.after(waitMs, answer);
  };
}
