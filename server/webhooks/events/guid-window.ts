import { firstGuidAt, timeOfGuid } from '../../infrastructure/runtime/guid.ts';

/**
 * How far the time in an event's guid may lie from the event's `created_at`. The table is partitioned by that time,
 * so a guid from anywhere would fall outside of every partition; and whoever says the same again does so within days.
 */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** The platform's clocks may be ahead of ours. */
const MAX_LEAD_MS = 5 * 60_000;

const UUID_V7 = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/** A UUIDv7 (RFC 9562, section 5.7) from within the window around now. */
export function isRecentGuid(guid: string, now: Date): boolean {
  const age = now.getTime() - timeOfGuid(guid).getTime();
  return UUID_V7.test(guid) && age <= MAX_AGE_MS && age >= -MAX_LEAD_MS;
}

/** Where the guids of events created from `moment` on begin. */
export function lowestGuidOf(moment: Date): string {
  return guidAt(moment.getTime() - MAX_AGE_MS);
}

/** Above the guid of every event created before `moment`. */
export function highestGuidOf(moment: Date): string {
  return guidAt(moment.getTime() + MAX_LEAD_MS);
}

/** No guid is older than the epoch, whatever a filter asks for. */
function guidAt(milliseconds: number): string {
  return firstGuidAt(new Date(Math.max(0, milliseconds)));
}
