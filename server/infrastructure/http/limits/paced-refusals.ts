import { setBounded } from '../../runtime/bounded-map.ts';
import type { Clock, Timers } from '../../runtime/clock.ts';

/**
 * A client that is refused and calls again at once would keep a process busy with refusals, and every other tenant would
 * feel it. So of the refusals of one Organization so many a second are answered, and the others wait for their turn.
 */
export type PacedRefusals = ReturnType<typeof createPacedRefusals>;

/** Answered at once, and then so many in each second. */
const BURST = 100;
const PER_SECOND = 100;
const INTERVAL_MS = 1_000 / PER_SECOND;
/** A refusal that would have to wait longer is answered at once: what waits is bounded too. */
const MAX_WAIT_MS = 5_000;
const MAX_ORGANIZATIONS = 10_000;

export function createPacedRefusals({ clock, timers }: { clock: Clock; timers: Timers }) {
  /** When the refusals so far would have been answered at an even pace. */
  const caughtUpAt = new Map<string, number>();

  return (organizationGuid: string, answer: () => void): void => {
    const now = clock.now().getTime();
    const at = Math.max(now, caughtUpAt.get(organizationGuid) ?? now);
    const waitMs = at - now - BURST * INTERVAL_MS;
    const isTooLong = waitMs > MAX_WAIT_MS;
    if (!isTooLong) setBounded(caughtUpAt, organizationGuid, at + INTERVAL_MS, MAX_ORGANIZATIONS);
    if (isTooLong || waitMs <= 0) answer();
    else timers.after(waitMs, answer);
  };
}
