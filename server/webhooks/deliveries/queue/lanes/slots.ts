import type { Standing } from './limit.ts';

/** Requests in flight per process, which bounds sockets and memory of the sender thread. */
export const MAX_IN_FLIGHT = 4_096;
/** Of these, requests to endpoints that hang or have not answered yet. */
export const MAX_UNANSWERED = 1_280;
/** Of these, requests to endpoints that hang. */
export const MAX_HANGING = 768;
/**
 * One endpoint may use this share of the free slots, so that many endpoints that start to hang at once leave slots for
 * others (dynamic threshold: Choudhury and Hahne, 1998).
 */
const SHARE_OF_FREE = 1 / 32;

export type Slots = ReturnType<typeof createSlots>;

/**
 * Slots for requests in flight, divided so that endpoints that hang never take those of endpoints that answer. A
 * request keeps the slot that it started with, so no total is exceeded.
 */
export function createSlots() {
  const taken: Record<Standing, number> = { responsive: 0, unknown: 0, hanging: 0 };
  const inFlight = () => taken.responsive + taken.unknown + taken.hanging;

  /** Free slots for endpoints of this standing. */
  function free(standing: Standing): number {
    const all = MAX_IN_FLIGHT - inFlight();
    if (standing === 'responsive') return all;
    const unanswered = Math.min(all, MAX_UNANSWERED - taken.unknown - taken.hanging);
    return standing === 'unknown' ? unanswered : Math.min(unanswered, MAX_HANGING - taken.hanging);
  }

  return {
    inFlight,
    free,
    /** Requests that one endpoint of this standing may have in flight, whatever its own limit. */
    share(standing: Standing): number {
      const available = free(standing);
      if (available <= 0) return 0;
      return standing === 'responsive' ? Math.max(1, Math.floor(available * SHARE_OF_FREE)) : 1;
    },
    take(standing: Standing): void {
      taken[standing] += 1;
    },
    giveBack(standing: Standing): void {
      taken[standing] -= 1;
    },
  };
}
