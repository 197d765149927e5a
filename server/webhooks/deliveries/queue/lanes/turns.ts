import type { Lane } from './lane.ts';
import type { Standing } from './limit.ts';
import type { Slots } from './slots.ts';

/** In order of priority. */
const STANDINGS: readonly Standing[] = ['responsive', 'unknown', 'hanging'];

/** The order in which lanes send: by standing, and round robin among the lanes of one standing. */
export function createTurns(slots: Slots) {
  const ready: Record<Standing, Lane[]> = { responsive: [], unknown: [], hanging: [] };

  return {
    /** Queues the lane if it may send and is not queued yet. */
    offer(lane: Lane): void {
      if (lane.runQueued || !lane.maySend()) return;
      lane.runQueued = true;
      ready[lane.limit().standing()].push(lane);
    },

    /** The first lane for which a slot is free. */
    next(): Lane | undefined {
      for (const standing of STANDINGS) {
        const lane = slots.free(standing) > 0 ? ready[standing].shift() : undefined;
        if (!lane) continue;
        lane.runQueued = false;
        return lane;
      }
      return undefined;
    },

    isEmpty: () => STANDINGS.every((standing) => ready[standing].length === 0),

    clear(): void {
      for (const standing of STANDINGS) for (const lane of ready[standing].splice(0)) lane.runQueued = false;
    },
  };
}
