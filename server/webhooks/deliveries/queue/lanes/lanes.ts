import type { Clock, Timers } from '../../../../infrastructure/runtime/clock.ts';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery, Outcome } from '../../delivery.ts';
import { createLane, type Lane } from './lane.ts';
import type { Standing } from './limit.ts';
import { createMemory } from './memory.ts';
import { createSlots } from './slots.ts';
import { createTurns } from './turns.ts';

/** The deliveries that this process holds, in one lane per subscription. Lanes take turns. */
export type Lanes = ReturnType<typeof createLanes>;

/** Empty lanes are kept for their learned limits. */
const MAX_LANES = 10_000;

type Deps = {
  clock: Clock;
  timers: Timers;
  /** Never rejects. */
  attempt(delivery: Delivery, endpoint: Endpoint): Promise<Outcome>;
  /** The delivery stays held until its outcome is recorded. */
  record(outcome: Outcome, sentBy: string | undefined): Promise<void>;
  /** The lease holder; undefined while the lease is not valid. */
  holder(): string | undefined;
  /** Returns deliveries to the queue: the subscription ended or the endpoint keeps failing. */
  requeue(deliveries: readonly Delivery[]): void;
  /** A lane runs low and the queue has more for it. */
  onRefillNeeded(): void;
};

export function createLanes({ clock, timers, attempt, record, holder, requeue, onRefillNeeded }: Deps) {
  const lanes = new Map<string, Lane>();
  const slots = createSlots();
  const memory = createMemory();
  const turns = createTurns(slots);
  let stopped = false;
  const idleWaiters: (() => void)[] = [];

  function laneOf(endpoint: Endpoint): Lane {
    const known = lanes.get(endpoint.guid);
    if (known) return known;
    if (lanes.size >= MAX_LANES) forgetAnEmptyLane();
    const lane = createLane(endpoint);
    lanes.set(endpoint.guid, lane);
    return lane;
  }

  function forgetAnEmptyLane(): void {
    for (const [guid, lane] of lanes)
      if (lane.held() === 0) {
        lanes.delete(guid);
        return;
      }
  }

  function pump(): void {
    while (maySend()) {
      const lane = turns.next();
      if (!lane) break;
      if (!lane.maySend()) continue;
      const standing = lane.limit().standing();
      if (!maySendTo(lane.endpoint)) requeueWaiting(lane);
      // The standing changed after the lane was queued.
      else if (slots.free(standing) === 0) turns.offer(lane);
      // A lane that uses its full share is queued again when one of its requests ends.
      else if (lane.inFlight() < slots.share(standing)) {
        send(lane, lane.take(), standing);
        turns.offer(lane);
      }
    }
    if (isIdle()) for (const waiter of idleWaiters.splice(0)) waiter();
  }

  function isIdle(): boolean {
    return slots.inFlight() === 0 && (!maySend() || turns.isEmpty());
  }

  function maySend(): boolean {
    return !stopped && holder() !== undefined;
  }

  function guidsOf(condition: (lane: Lane) => boolean): string[] {
    return [...lanes].filter(([, lane]) => condition(lane)).map(([guid]) => guid);
  }

  function maySendTo({ delivers, paused, endsAt }: Endpoint): boolean {
    return delivers && !paused && (endsAt === undefined || endsAt > clock.now());
  }

  function requeueWaiting(lane: Lane, kept?: string): void {
    const removed = takeWaiting(lane, kept);
    if (removed.length > 0) requeue(removed);
  }

  /**
   * An endpoint that was read before a change is ignored: it may come from a transaction that began before. After a
   * change of its URL, an endpoint receives only its first delivery until it answers 2xx.
   */
  function setEndpoint(lane: Lane, read: Endpoint): void {
    const { url: urlBefore, version } = lane.endpoint;
    if (read.version >= version) lane.endpoint = read;
    const { endpoint } = lane;
    if (endpoint.url !== urlBefore) {
      lane.startWithNewUrl();
      memory.classify(lane);
    }
    if (!maySendTo(endpoint)) requeueWaiting(lane);
    else if (endpoint.firstOnly) requeueWaiting(lane, endpoint.firstOnly.deliveryGuid);
  }

  function takeWaiting(lane: Lane, kept?: string): Delivery[] {
    const taken = lane.empty(kept);
    memory.release(lane, taken.length);
    return taken;
  }

  function send(lane: Lane, delivery: Delivery, standing: Standing): void {
    slots.take(standing);
    const sentBy = holder();
    void attempt(delivery, lane.endpoint).then((outcome) => {
      slots.giveBack(standing);
      lane.sent(delivery);
      if (!lane.isOutdated(delivery)) learn(lane, outcome);
      void record(outcome, sentBy).then(() => markRecorded(lane, delivery));
      turns.offer(lane);
      pump();
    });
  }

  function learn(lane: Lane, outcome: Outcome): void {
    lane.limit().learn(outcome);
    memory.classify(lane);
    const restMs = lane.limit().restMs();
    if (restMs > 0) rest(lane, restMs);
    // A stop releases all deliveries at its end.
    const excess = stopped ? [] : lane.takeExcess();
    if (excess.length === 0) return;
    memory.release(lane, excess.length);
    lane.fallBehind();
    requeue(excess);
  }

  function markRecorded(lane: Lane, delivery: Delivery): void {
    // The recorder makes a delivery that failed at an earlier URL due at once.
    const isDue = lane.isOutdated(delivery);
    lane.markRecorded(delivery);
    memory.release(lane, 1);
    if (isDue || lane.needsRefill()) onRefillNeeded();
    turns.offer(lane);
    pump();
  }

  function rest(lane: Lane, ms: number): void {
    lane.resting = true;
    timers.after(ms, () => {
      lane.resting = false;
      turns.offer(lane);
      pump();
    });
  }

  return {
    /** Reserves capacity for up to `wanted` deliveries of a claim; returns how much was granted. */
    reserve(endpoint: Endpoint, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(endpoint);
      const granted = memory.reserve(lane, wanted);
      // Deliveries enqueued during the claim set these flags again.
      if (granted > 0) {
        lane.more = false;
        lane.behindSinceClaim = false;
      }
      return granted;
    },

    /** The same for new deliveries: none while older ones wait in the queue. */
    reserveNew(endpoint: Endpoint, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(endpoint);
      const granted = lane.behind ? 0 : memory.reserve(lane, wanted);
      if (granted < wanted) lane.fallBehind();
      return granted;
    },

    unreserve(subscriptionGuid: string, count: number): void {
      const lane = lanes.get(subscriptionGuid);
      if (lane) memory.release(lane, count);
    },

    /** Adds deliveries that have a reservation. */
    add(endpoint: Endpoint, deliveries: readonly Delivery[]): void {
      const lane = laneOf(endpoint);
      lane.put(deliveries);
      setEndpoint(lane, endpoint);
      turns.offer(lane);
      pump();
    },

    /** The queue has deliveries for this endpoint; returns whether to claim them now. */
    announce(endpoint: Endpoint): boolean {
      const lane = laneOf(endpoint);
      lane.more = true;
      const needsRefill = lane.needsRefill();
      // The claim waits until the lane runs low; new deliveries must not overtake until then.
      if (!needsRefill) lane.fallBehind();
      return needsRefill;
    },

    /** All deliveries in the queue wait for the first 2xx of this endpoint or the end of its pause. */
    expectNone(endpoint: Endpoint): void {
      const lane = laneOf(endpoint);
      lane.more = false;
      lane.behind = false;
    },

    /** The queue has due deliveries; without capacity for them, new ones must not overtake. */
    noteDue(endpoint: Endpoint): void {
      const lane = laneOf(endpoint);
      if (lane.capacity() === 0) lane.fallBehind();
    },

    /** `isFull`: the claim used its whole reservation; `isBehind`: due deliveries may be left. */
    noteClaim(endpoint: Endpoint, { isFull, isBehind }: { isFull: boolean; isBehind: boolean }): void {
      const lane = laneOf(endpoint);
      if (isFull) lane.more = true;
      lane.behind = isBehind || lane.behindSinceClaim;
    },

    /** Updates the endpoints; lanes of ended and paused subscriptions requeue their deliveries. */
    refresh(endpoints: readonly Endpoint[]): void {
      for (const endpoint of endpoints) {
        const lane = lanes.get(endpoint.guid);
        if (lane) setEndpoint(lane, endpoint);
      }
    },

    /** The same after a change; without a lane one is created, which remembers the version. */
    applyChange(endpoint: Endpoint): void {
      const lane = laneOf(endpoint);
      setEndpoint(lane, endpoint);
      lane.more = maySendTo(lane.endpoint);
      lane.behind = false;
    },

    toRefill: () => guidsOf((lane) => lane.needsRefill() && memory.hasCapacity(lane)),
    waiting: () => guidsOf((lane) => lane.isWaiting()),
    /** Also lanes with reservations for deliveries that are still being read. */
    holding: () => guidsOf((lane) => lane.held() > 0),
    /** Includes deliveries whose outcome is not recorded yet. */
    heldGuids: () => [...lanes.values()].flatMap((lane) => lane.heldGuids()),
    heldGuidsOf: (subscriptionGuids: Iterable<string>) =>
      [...subscriptionGuids].flatMap((guid) => lanes.get(guid)?.heldGuids() ?? []),

    /** Removes all deliveries that are not in flight. */
    empty(): Delivery[] {
      turns.clear();
      return [...lanes.values()].flatMap((lane) => {
        const taken = takeWaiting(lane);
        if (taken.length > 0) lane.fallBehind();
        return taken;
      });
    },

    /** Resolves when nothing is in flight and nothing can be sent. */
    async idle(): Promise<void> {
      if (isIdle()) return;
      await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },

    /** To be called when the lease is valid again. */
    resume: pump,

    /** Requests in flight continue. */
    stop(): void {
      stopped = true;
    },

    figures() {
      let limited = 0;
      for (const lane of lanes.values()) if (lane.isLimited()) limited += 1;
      return { inFlight: slots.inFlight(), held: memory.held(), limited };
    },
  };
}
