import { firstGuidAt, timeOfGuid } from '../../infrastructure/runtime/guid.ts';

/**
 * Maximum distance of the time in an event's guid from `created_at`. The table is partitioned by the time in the guid,
 * so an arbitrary guid would fall outside of every partition.
 */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** The clocks of the core may be ahead of ours. */
const MAX_LEAD_MS = 5 * 60_000;

const UUID_V7 = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/** Accepts a UUIDv7 (RFC 9562, section 5.7) whose time is within the window around now. */
export function isRecentGuid(guid: string, now: Date): boolean {
  const age = now.getTime() - timeOfGuid(guid).getTime();
  return UUID_V7.test(guid) && age <= MAX_AGE_MS && age >= -MAX_LEAD_MS;
}

/** Lower bound of the guids of events created at or after `moment`. */
export function lowestGuidOf(moment: Date): string {
  return firstGuidAt(new Date(moment.getTime() - MAX_AGE_MS));
}

/** Upper bound of the guids of events created before `moment`. */
export function highestGuidOf(moment: Date): string {
  return firstGuidAt(new Date(moment.getTime() + MAX_LEAD_MS));
}
