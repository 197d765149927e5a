import { firstGuidAt } from '../../infrastructure/runtime/guid.ts';

/**
 * How far the time in a delivery's guid may lie from its `created_at`: a process that makes very many at once, or
 * whose clock is set back, is ahead of the clock with its guids.
 */
const MAX_DISTANCE_MS = 5 * 60_000;

/** The guids among which everything is that was created in [from, to). Partitions outside of them are not read. */
export function guidsOfWindow(from: Date | undefined, to: Date | undefined) {
  return {
    from: from && guidAt(from.getTime() - MAX_DISTANCE_MS),
    to: to && guidAt(to.getTime() + MAX_DISTANCE_MS),
  };
}

/** No guid is older than the epoch, whatever is asked for. */
function guidAt(milliseconds: number): string {
  return firstGuidAt(new Date(Math.max(0, milliseconds)));
}
