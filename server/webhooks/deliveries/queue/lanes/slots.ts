import type { Standing } from './limit.ts';

/** Requests under way altogether: a limit on sockets, and on the memory that each needs in the sending thread. */
export const MAX_IN_FLIGHT = 4_096;
/** Of these, requests to endpoints that hang or have not answered yet. The others are kept for those that answer. */
export const MAX_UNANSWERED = 1_280;
/** Of these, requests to endpoints that hang, so that one that begins to answer does not wait behind them. */
export const MAX_HANGING = 768;
/**
 * No endpoint has more under way than this share of the free slots, so that many that begin to hang at once leave
 * slots for others (the dynamic threshold of shared-memory switches: Choudhury and Hahne, 1998).
 */
const SHARE_OF_FREE = 1 / 32;

/**
 * Places for requests under way, divided so that endpoints that hang never take those of endpoints that answer. A
 * request keeps the place that it began with, so no total is ever exceeded.
 */
export function createSlots() {
  const taken: Record<Standing, number> = { responsive: 0, unknown: 0, hanging: 0 };
  const inFlight = () => taken.responsive + taken.unknown + taken.hanging;

  /** How many more requests may begin to endpoints of this standing. */
  function free(standing: Standing): number {
    const all = MAX_IN_FLIGHT - inFlight();
    if (standing === 'responsive') return all;
    const unanswered = Math.min(all, MAX_UNANSWERED - taken.unknown - taken.hanging);
    return standing === 'unknown' ? unanswered : Math.min(unanswered, MAX_HANGING - taken.hanging);
  }

  return {
    inFlight,
    free,
    /** How many requests one endpoint of this standing may have under way now, whatever its own limit. */
    share(standing: Standing): number {
      const slots = free(standing);
      if (slots <= 0) return 0;
      return standing === 'responsive' ? Math.max(1, Math.floor(slots * SHARE_OF_FREE)) : 1;
    },
    take(standing: Standing): void {
      taken[standing] += 1;
    },
    giveBack(standing: Standing): void {
      taken[standing] -= 1;
    },
  };
}
