import { firstGuidAt } from '../infrastructure/runtime/guid.ts';

/**
 * How far the time in a guid may lie from `created_at`, of objects that are found by it. A trigger of the database marks
 * all others (`guid_time_differs`, migration 0017), with the same distance.
 */
const MAX_DISTANCE_MS = 5 * 60_000;
const LOWEST = '0'.repeat(32);
const HIGHEST = 'f'.repeat(32);

/** The guids among which every object is that was created in [from, until), unless its time differs. */
export function guidsOfWindow(from: Date | undefined, until: Date | undefined) {
  return {
    lowest: from ? guidAt(from.getTime() - MAX_DISTANCE_MS) : LOWEST,
    highest: until ? guidAt(until.getTime() + MAX_DISTANCE_MS) : HIGHEST,
  };
}

/** No guid is older than the epoch, whatever a filter asks for. */
function guidAt(milliseconds: number): string {
  return firstGuidAt(new Date(Math.max(0, milliseconds)));
}
