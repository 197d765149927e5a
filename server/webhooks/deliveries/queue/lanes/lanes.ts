import type { Clock, Timers } from '../../../../infrastructure/runtime/clock.ts';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery, Outcome } from '../../delivery.ts';
import { createLane, type Lane } from './lane.ts';
import type { Standing } from './limit.ts';
import { createMemory } from './memory.ts';
import { createSlots } from './slots.ts';

/**
 * What this node holds, a lane for each subscription. Lanes take turns, one request each, so none gets ahead of
 * another however much waits in it; each has its own limit of requests under way.
 */
export type Lanes = ReturnType<typeof createLanes>;

/** Who is served first while slots are free for all of them. */
const STANDINGS: readonly Standing[] = ['responsive', 'unknown', 'hanging'];
/** Empty lanes are kept for what they learned of their endpoint, up to this many. */
const MAX_LANES = 10_000;

type Deps = {
  clock: Clock;
  timers: Timers;
  /** One attempt. Never rejects. */
  attempt(delivery: Delivery, endpoint: Endpoint): Promise<Outcome>;
  /** Writes down what came of it; the delivery stays held until then. */
  record(outcome: Outcome): Promise<void>;
  /** Whether what is held is still this process's to send. */
  isHeld(): boolean;
  /** Back to the database: the endpoint is gone, or keeps failing. */
  requeue(deliveries: readonly Delivery[]): void;
  /** A lane runs low and the database has more for it. */
  onRefillNeeded(): void;
};

export function createLanes({ clock, timers, attempt, record, isHeld, requeue, onRefillNeeded }: Deps) {
  const lanes = new Map<string, Lane>();
  const slots = createSlots();
  const memory = createMemory();
  /** Lanes that may send, in the order of their turns. */
  const ready: Record<Standing, Lane[]> = { responsive: [], unknown: [], hanging: [] };
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

  function offerTurn(lane: Lane): void {
    if (lane.inTurn || !lane.maySend()) return;
    lane.inTurn = true;
    ready[lane.limit.standing()].push(lane);
  }

  function nextInTurn(): Lane | undefined {
    for (const standing of STANDINGS) {
      const lane = slots.free(standing) > 0 ? ready[standing].shift() : undefined;
      if (lane) return lane;
    }
    return undefined;
  }

  function pump(): void {
    while (maySend()) {
      const lane = nextInTurn();
      if (!lane) break;
      lane.inTurn = false;
      if (!lane.maySend()) continue;
      const standing = lane.limit.standing();
      if (isOver(lane.endpoint)) giveUp(lane);
      // Its standing has changed since it was offered this turn.
      else if (slots.free(standing) === 0) offerTurn(lane);
      // With its share under way it comes back when one of these ends.
      else if (lane.inFlight() < slots.share(standing)) {
        send(lane, lane.take(), standing);
        offerTurn(lane);
      }
    }
    if (isIdle()) for (const waiter of idleWaiters.splice(0)) waiter();
  }

  function isIdle(): boolean {
    return (
      slots.inFlight() === 0 && (!maySend() || STANDINGS.every((standing) => ready[standing].length === 0))
    );
  }

  function maySend(): boolean {
    return !stopped && isHeld();
  }

  function guidsOf(condition: (lane: Lane) => boolean): string[] {
    return [...lanes].filter(([, lane]) => condition(lane)).map(([guid]) => guid);
  }

  function isOver({ delivers, endsAt }: Endpoint): boolean {
    return !delivers || (endsAt !== undefined && endsAt <= clock.now());
  }

  function giveUp(lane: Lane, kept?: string): void {
    const abandoned = takeWaiting(lane, kept);
    if (abandoned.length > 0) requeue(abandoned);
  }

  /** An endpoint that has yet to answer 2xx, after a change of its URL, keeps only its first delivery. */
  function setEndpoint(lane: Lane, endpoint: Endpoint): void {
    lane.endpoint = endpoint;
    if (endpoint.firstOnly) giveUp(lane, endpoint.firstOnly.deliveryGuid);
  }

  function takeWaiting(lane: Lane, kept?: string): Delivery[] {
    const taken = lane.empty(kept);
    memory.forget(lane, taken.length);
    return taken;
  }

  function send(lane: Lane, delivery: Delivery, standing: Standing): void {
    slots.take(standing);
    void attempt(delivery, lane.endpoint).then((outcome) => {
      slots.giveBack(standing);
      lane.sent();
      learn(lane, outcome);
      void record(outcome).then(() => markRecorded(lane, delivery));
      offerTurn(lane);
      pump();
    });
  }

  function learn(lane: Lane, outcome: Outcome): void {
    lane.limit.learn(outcome);
    memory.classify(lane);
    const restMs = lane.limit.restMs();
    if (restMs > 0) rest(lane, restMs);
    // A stop gives back everything at its end.
    const excess = stopped ? [] : lane.takeExcess();
    if (excess.length === 0) return;
    memory.forget(lane, excess.length);
    lane.fallBehind();
    requeue(excess);
  }

  function markRecorded(lane: Lane, delivery: Delivery): void {
    lane.markRecorded(delivery);
    memory.forget(lane, 1);
    if (lane.needsRefill()) onRefillNeeded();
    offerTurn(lane);
    pump();
  }

  function rest(lane: Lane, ms: number): void {
    lane.resting = true;
    timers.after(ms, () => {
      lane.resting = false;
      offerTurn(lane);
      pump();
    });
  }

  return {
    /** Makes room for up to `wanted` deliveries that are claimed now, and tells for how many. */
    reserve(endpoint: Endpoint, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(endpoint);
      const granted = memory.reserve(lane, wanted);
      // What comes to the database while the claim is under way counts again.
      if (granted > 0) {
        lane.more = false;
        lane.behindSinceClaim = false;
      }
      return granted;
    },

    /** The same for deliveries that are being made: none as long as older ones wait in the database. */
    reserveNew(endpoint: Endpoint, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(endpoint);
      const granted = lane.behind ? 0 : memory.reserve(lane, wanted);
      if (granted < wanted) lane.fallBehind();
      return granted;
    },

    /** Takes back what was reserved and not used. */
    unreserve(subscriptionGuid: string, count: number): void {
      const lane = lanes.get(subscriptionGuid);
      if (lane) memory.forget(lane, count);
    },

    /** Deliveries for which there is a reservation. */
    add(endpoint: Endpoint, deliveries: readonly Delivery[]): void {
      const lane = laneOf(endpoint);
      lane.put(deliveries);
      setEndpoint(lane, endpoint);
      offerTurn(lane);
      pump();
    },

    /** The database has something for this subscription; true when it should be claimed at once. */
    announce(endpoint: Endpoint): boolean {
      const lane = laneOf(endpoint);
      lane.more = true;
      const needsRefill = lane.needsRefill();
      // It is claimed when what the lane holds runs low. Anything new would overtake it until then.
      if (!needsRefill) lane.fallBehind();
      return needsRefill;
    },

    /** All that waits for this subscription waits for the first 2xx of its endpoint. */
    expectNone(endpoint: Endpoint): void {
      const lane = laneOf(endpoint);
      lane.more = false;
      lane.behind = false;
    },

    /** Something is due in the database for this subscription. Without room for it, it must not be overtaken. */
    noteDue(endpoint: Endpoint): void {
      const lane = laneOf(endpoint);
      if (lane.capacity() === 0) lane.fallBehind();
    },

    /** A claim found as much as there was room for, and perhaps left something that is due; or it found all there was. */
    noteClaim(endpoint: Endpoint, { isFull, isBehind }: { isFull: boolean; isBehind: boolean }): void {
      const lane = laneOf(endpoint);
      if (isFull) lane.more = true;
      lane.behind = isBehind || lane.behindSinceClaim;
    },

    /** What is known of the endpoints now; a lane whose endpoint is over hands back what waits in it. */
    refresh(endpoints: readonly Endpoint[]): void {
      for (const endpoint of endpoints) {
        const lane = lanes.get(endpoint.guid);
        if (!lane) continue;
        setEndpoint(lane, endpoint);
        if (isOver(endpoint)) giveUp(lane);
      }
    },

    toRefill: () => guidsOf((lane) => lane.needsRefill() && memory.hasCapacity(lane)),
    waiting: () => guidsOf((lane) => lane.isWaiting()),
    /** Of every delivery that is held: waiting, under way, or not written down yet. */
    heldGuids: () => [...lanes.values()].flatMap((lane) => lane.heldGuids()),
    heldGuidsOf: (subscriptionGuids: Iterable<string>) =>
      [...subscriptionGuids].flatMap((guid) => lanes.get(guid)?.heldGuids() ?? []),

    /** Everything that is not under way, taken out. */
    empty(): Delivery[] {
      for (const standing of STANDINGS) ready[standing] = [];
      return [...lanes.values()].flatMap((lane) => {
        lane.inTurn = false;
        const taken = takeWaiting(lane);
        if (taken.length > 0) lane.fallBehind();
        return taken;
      });
    },

    isIdle,

    /** Resolves when nothing is under way and nothing can be sent now. */
    async idle(): Promise<void> {
      if (isIdle()) return;
      await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },

    /** After it was in doubt whether what is held may be sent. */
    resume: pump,

    /** Nothing new is sent; what is under way goes on. */
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
