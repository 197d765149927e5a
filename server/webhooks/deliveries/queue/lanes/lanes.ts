import type { Clock, Timers } from '../../../../infrastructure/runtime/clock.ts';
import type { Receiver } from '../../../subscriptions/service.ts';
import type { Delivery, Outcome } from '../../delivery.ts';
import { createLane, type Lane } from './lane.ts';
import type { Standing } from './limit.ts';
import { createMemory } from './memory.ts';
import { createPlaces } from './places.ts';

/**
 * What this node holds, a lane for each subscription. Lanes take turns, one request each, so none gets ahead of
 * another however much waits in it; each has its own limit of requests under way.
 */
export type Lanes = ReturnType<typeof createLanes>;

/** Who is served first while places are free for all of them. */
const STANDINGS: readonly Standing[] = ['responsive', 'unknown', 'hanging'];
/** Empty lanes are kept for what they learned of their endpoint, up to this many. */
const MAX_LANES = 10_000;

type Deps = {
  clock: Clock;
  timers: Timers;
  /** One attempt. Never rejects. */
  attempt(delivery: Delivery, receiver: Receiver): Promise<Outcome>;
  /** Writes down what came of it; the delivery stays held until then. */
  record(outcome: Outcome): Promise<void>;
  /** Whether what is held is still this process's to send. */
  isHeld(): boolean;
  /** Back to the database: the receiver is gone, or keeps failing. */
  handBack(deliveries: readonly Delivery[]): void;
  /** A lane runs low and the database has more for it. */
  onHungry(): void;
};

export function createLanes({ clock, timers, attempt, record, isHeld, handBack, onHungry }: Deps) {
  const lanes = new Map<string, Lane>();
  const places = createPlaces();
  const memory = createMemory();
  /** Lanes that may send, in the order of their turns. */
  const ready: Record<Standing, Lane[]> = { responsive: [], unknown: [], hanging: [] };
  let stopped = false;
  const idleWaiters: (() => void)[] = [];

  function laneOf(receiver: Receiver): Lane {
    const known = lanes.get(receiver.guid);
    if (known) return known;
    if (lanes.size >= MAX_LANES) forgetAnEmptyLane();
    const lane = createLane(receiver);
    lanes.set(receiver.guid, lane);
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
      const lane = places.free(standing) > 0 ? ready[standing].shift() : undefined;
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
      if (isOver(lane.receiver)) giveUp(lane);
      // Its standing has changed since it was offered this turn.
      else if (places.free(standing) === 0) offerTurn(lane);
      // With its share under way it comes back when one of these ends.
      else if (lane.inFlight() < places.share(standing)) {
        send(lane, lane.take(), standing);
        offerTurn(lane);
      }
    }
    if (isIdle()) for (const waiter of idleWaiters.splice(0)) waiter();
  }

  function isIdle(): boolean {
    return (
      places.inFlight() === 0 && (!maySend() || STANDINGS.every((standing) => ready[standing].length === 0))
    );
  }

  function maySend(): boolean {
    return !stopped && isHeld();
  }

  function guidsOf(condition: (lane: Lane) => boolean): string[] {
    return [...lanes].filter(([, lane]) => condition(lane)).map(([guid]) => guid);
  }

  function isOver({ delivers, endsAt }: Receiver): boolean {
    return !delivers || (endsAt !== undefined && endsAt <= clock.now());
  }

  function giveUp(lane: Lane, kept?: string): void {
    const abandoned = takeWaiting(lane, kept);
    if (abandoned.length > 0) handBack(abandoned);
  }

  /** An endpoint that has yet to answer 2xx, after a change of its URL, keeps only its first delivery. */
  function setReceiver(lane: Lane, receiver: Receiver): void {
    lane.receiver = receiver;
    if (receiver.firstOnly) giveUp(lane, receiver.firstOnly.deliveryGuid);
  }

  function takeWaiting(lane: Lane, kept?: string): Delivery[] {
    const taken = lane.empty(kept);
    memory.forget(lane, taken.length);
    return taken;
  }

  function send(lane: Lane, delivery: Delivery, standing: Standing): void {
    places.take(standing);
    void attempt(delivery, lane.receiver).then((outcome) => {
      places.giveBack(standing);
      lane.sent();
      learn(lane, outcome);
      void record(outcome).then(() => settle(lane, delivery));
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
    handBack(excess);
  }

  function settle(lane: Lane, delivery: Delivery): void {
    lane.settle(delivery);
    memory.forget(lane, 1);
    if (lane.isHungry()) onHungry();
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
    reserve(receiver: Receiver, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(receiver);
      const granted = memory.reserve(lane, wanted);
      // What comes to the database while the claim is under way counts again.
      if (granted > 0) {
        lane.more = false;
        lane.behindSinceClaim = false;
      }
      return granted;
    },

    /** The same for deliveries that are being made: none as long as older ones wait in the database. */
    reserveNew(receiver: Receiver, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(receiver);
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
    add(receiver: Receiver, deliveries: readonly Delivery[]): void {
      const lane = laneOf(receiver);
      lane.put(deliveries);
      setReceiver(lane, receiver);
      offerTurn(lane);
      pump();
    },

    /** The database has something for this subscription; true when it should be claimed at once. */
    announce(receiver: Receiver): boolean {
      const lane = laneOf(receiver);
      lane.more = true;
      const isHungry = lane.isHungry();
      // It is claimed when what the lane holds runs low. Anything new would overtake it until then.
      if (!isHungry) lane.fallBehind();
      return isHungry;
    },

    /** All that waits for this subscription waits for the first 2xx of its endpoint. */
    expectNone(receiver: Receiver): void {
      const lane = laneOf(receiver);
      lane.more = false;
      lane.behind = false;
    },

    /** Something is due in the database for this subscription. Without room for it, it must not be overtaken. */
    noteDue(receiver: Receiver): void {
      const lane = laneOf(receiver);
      if (lane.room() === 0) lane.fallBehind();
    },

    /** A claim found as much as there was room for, and perhaps left something that is due; or it found all there was. */
    noteClaim(receiver: Receiver, { isFull, isBehind }: { isFull: boolean; isBehind: boolean }): void {
      const lane = laneOf(receiver);
      if (isFull) lane.more = true;
      lane.behind = isBehind || lane.behindSinceClaim;
    },

    /** What is known of the receivers now; a lane whose receiver is over hands back what waits in it. */
    refresh(receivers: readonly Receiver[]): void {
      for (const receiver of receivers) {
        const lane = lanes.get(receiver.guid);
        if (!lane) continue;
        setReceiver(lane, receiver);
        if (isOver(receiver)) giveUp(lane);
      }
    },

    hungry: () => guidsOf((lane) => lane.isHungry() && memory.hasRoom(lane)),
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
      return { inFlight: places.inFlight(), held: memory.held(), limited };
    },
  };
}
