import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createLimit } from './limit.ts';

/** Held at most: enough that a quick endpoint never waits for the database, and little of what cannot be sent anyway. */
const MAX_HELD = 5_000;
const MAX_HELD_WHILE_UNPROVEN = 32;
/** To one that hangs or has not answered yet: one is under way, and the next one is at hand. */
const MAX_HELD_WHILE_UNANSWERED = 2;
/** Sent and not written down yet. Were the process to die now, these would be sent again. */
const MAX_UNRECORDED = 500;

export type Lane = ReturnType<typeof createLane>;

/** The deliveries of one subscription that this node holds: some under way, the others first come, first served. */
export function createLane(endpoint: Endpoint) {
  const limit = createLimit({ hasAnswered: endpoint.hasAnswered });
  let waiting: Delivery[] = [];
  let next = 0;
  let inFlight = 0;
  let held = 0;
  /** Taken, and not written down yet. */
  const unrecorded = new Set<Delivery>();

  /** Its endpoint fails, or has not answered yet. */
  const isUnproven = () => limit.isFailing() || limit.standing() === 'unknown';
  const maxHeld = () => {
    if (limit.standing() !== 'responsive') return MAX_HELD_WHILE_UNANSWERED;
    return isUnproven() ? MAX_HELD_WHILE_UNPROVEN : MAX_HELD;
  };

  const lane = {
    endpoint,
    limit,
    inTurn: false,
    resting: false,
    /** The database may have something for it. */
    more: false,
    /** The database has something for it that is due and found no room: nothing new may overtake that. */
    behind: false,
    /** It has become so since a claim was begun, which may not have seen it. */
    behindSinceClaim: false,
    /** As `isUnproven` was when what it holds was last counted. */
    countsAsUnproven: isUnproven(),

    fallBehind(): void {
      lane.behind = true;
      lane.behindSinceClaim = true;
    },
    isUnproven,
    held: () => held,
    capacity: () => Math.max(0, maxHeld() - held),
    /** So many more are held, or fewer: reserved, given back, written down, handed back. */
    hold(count: number): void {
      held += count;
    },

    put(deliveries: readonly Delivery[]): void {
      // What was taken is dropped once it is half of the list: a delivery costs the same however long the lane is.
      if (next > waiting.length / 2) {
        waiting = waiting.slice(next);
        next = 0;
      }
      for (const delivery of deliveries) waiting.push(delivery);
    },
    isWaiting: () => next < waiting.length,
    inFlight: () => inFlight,
    maySend: () =>
      next < waiting.length &&
      !lane.resting &&
      inFlight < limit.current() &&
      unrecorded.size < MAX_UNRECORDED,
    take(): Delivery {
      const delivery = waiting[next] as Delivery;
      next += 1;
      inFlight += 1;
      unrecorded.add(delivery);
      return delivery;
    },
    markRecorded(delivery: Delivery): void {
      unrecorded.delete(delivery);
    },
    heldGuids: () => [...waiting.slice(next), ...unrecorded].map(({ guid }) => guid),
    sent(): void {
      inFlight -= 1;
    },
    /** Takes out everything that waits, or everything but one. */
    empty(kept?: string): Delivery[] {
      const rest = waiting.slice(next);
      waiting = rest.filter(({ guid }) => guid === kept);
      next = 0;
      return rest.filter(({ guid }) => guid !== kept);
    },
    /** Takes out the youngest of what it holds beyond what an endpoint that hangs or keeps failing may have in memory. */
    takeExcess(): Delivery[] {
      if (limit.restMs() === 0 && limit.standing() !== 'hanging') return [];
      const excess = Math.min(held - maxHeld(), waiting.length - next);
      return excess > 0 ? waiting.splice(waiting.length - excess) : [];
    },

    needsRefill: () => (lane.more || lane.behind) && held <= maxHeld() / 2,
    isLimited: () => limit.isFailing() && limit.current() === 1,
  };
  return lane;
}
