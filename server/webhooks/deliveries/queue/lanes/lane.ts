import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createLimit } from './limit.ts';

/** Enough that a fast endpoint never waits for the database. */
const MAX_HELD = 5_000;
const MAX_HELD_WHILE_UNPROVEN = 32;
/** For an endpoint that hangs or has not answered yet: one in flight and one waiting. */
const MAX_HELD_WHILE_UNANSWERED = 2;
/** Sent without a recorded outcome: after a crash these are sent again. */
const MAX_UNRECORDED = 500;

export type Lane = ReturnType<typeof createLane>;

/** The deliveries of one subscription that this process holds, in flight or waiting in order. */
export function createLane(endpoint: Endpoint) {
  let limit = createLimit({ hasAnswered: endpoint.hasAnswered });
  let waiting: Delivery[] = [];
  let next = 0;
  let inFlight = 0;
  let held = 0;
  /** Taken, without a recorded outcome. */
  const unrecorded = new Set<Delivery>();
  /** Of these, sent to an earlier URL: they use no capacity of the new one. */
  const outdated = new Set<Delivery>();

  /** An idle lane would keep its last deliveries in memory. */
  function dropTaken(): void {
    if (next < waiting.length) return;
    waiting = [];
    next = 0;
  }

  /** The endpoint fails or has not answered yet. */
  const isUnproven = () => limit.isFailing() || limit.standing() === 'unknown';
  const maxHeld = () => {
    if (limit.standing() !== 'responsive') return MAX_HELD_WHILE_UNANSWERED;
    return isUnproven() ? MAX_HELD_WHILE_UNPROVEN : MAX_HELD;
  };

  const lane = {
    endpoint,
    limit: () => limit,
    /** A limit that was learned from one URL does not apply to the next. */
    startWithNewUrl(): void {
      limit = createLimit({ hasAnswered: lane.endpoint.hasAnswered });
      inFlight = 0;
      for (const delivery of unrecorded) outdated.add(delivery);
    },
    isOutdated: (delivery: Delivery) => outdated.has(delivery),
    runQueued: false,
    resting: false,
    /** The queue may have deliveries for this lane. */
    more: false,
    /** The queue has due deliveries that exceed the capacity; new deliveries must not overtake them. */
    behind: false,
    /** Set to `behind` since the last claim started, which may have missed the cause. */
    behindSinceClaim: false,
    /** `isUnproven` when the held deliveries were last counted. */
    countsAsUnproven: isUnproven(),

    fallBehind(): void {
      lane.behind = true;
      lane.behindSinceClaim = true;
    },
    isUnproven,
    held: () => held,
    capacity: () => Math.max(0, maxHeld() - held + outdated.size),
    /** `count` is negative when deliveries are recorded or requeued. */
    hold(count: number): void {
      held += count;
    },

    put(deliveries: readonly Delivery[]): void {
      // Dropping taken deliveries once they are half of the list makes the cost per delivery constant.
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
      dropTaken();
      inFlight += 1;
      unrecorded.add(delivery);
      return delivery;
    },
    markRecorded(delivery: Delivery): void {
      unrecorded.delete(delivery);
      outdated.delete(delivery);
    },
    heldGuids: () => [...waiting.slice(next), ...unrecorded].map(({ guid }) => guid),
    sent(delivery: Delivery): void {
      if (!outdated.has(delivery)) inFlight -= 1;
    },
    /** Removes all waiting deliveries, except `kept`. */
    empty(kept?: string): Delivery[] {
      const rest = waiting.slice(next);
      waiting = rest.filter(({ guid }) => guid === kept);
      next = 0;
      return rest.filter(({ guid }) => guid !== kept);
    },
    /** Removes the newest deliveries beyond the limit of an endpoint that hangs or keeps failing. */
    takeExcess(): Delivery[] {
      if (limit.restMs() === 0 && limit.standing() !== 'hanging') return [];
      const excess = Math.min(held - maxHeld(), waiting.length - next);
      const taken = excess > 0 ? waiting.splice(waiting.length - excess) : [];
      dropTaken();
      return taken;
    },

    needsRefill: () => (lane.more || lane.behind) && held - outdated.size <= maxHeld() / 2,
    isLimited: () => limit.isFailing() && limit.current() === 1,
  };
  return lane;
}
