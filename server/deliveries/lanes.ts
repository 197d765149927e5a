import type { Clock, Timers } from '../runtime/clock.ts';
import type { Receiver } from '../subscriptions/service.ts';
import type { Delivery, Outcome } from './delivery.ts';
import { createLane, type Lane } from './lane.ts';

/**
 * What this node holds, a lane for each subscription. Lanes take turns, one request each, so none gets ahead of
 * another however much waits in it; each has its own limit of requests under way.
 */
export type Lanes = ReturnType<typeof createLanes>;

/** Held in memory altogether; the rest waits in the database. */
const MAX_HELD = 50_000;
/** No lane takes more than this share of what is free, so there is always something left for the next one. */
const SHARE_OF_FREE = 1 / 4;
/** Under way altogether: far above what the lanes of healthy endpoints need, so that only sockets are saved. */
const MAX_IN_FLIGHT = 4_096;
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
  /** Back to the database: the receiver is gone. */
  handBack(deliveries: readonly Delivery[]): void;
  /** A lane runs low and the database has more for it. */
  onHungry(): void;
};

export function createLanes({ clock, timers, attempt, record, isHeld, handBack, onHungry }: Deps) {
  const lanes = new Map<string, Lane>();
  /** Lanes that may send, in the order of their turns. */
  let ready: Lane[] = [];
  let held = 0;
  let inFlight = 0;
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
    ready.push(lane);
  }

  function pump(): void {
    while (maySend() && inFlight < MAX_IN_FLIGHT) {
      const lane = ready.shift();
      if (!lane) break;
      lane.inTurn = false;
      if (!lane.maySend()) continue;
      if (isOver(lane.receiver)) giveUp(lane);
      else send(lane, lane.take());
      offerTurn(lane);
    }
    if (isIdle()) for (const waiter of idleWaiters.splice(0)) waiter();
  }

  function isIdle(): boolean {
    return inFlight === 0 && (!maySend() || ready.length === 0);
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
    lane.forget(taken.length);
    held -= taken.length;
    return taken;
  }

  function send(lane: Lane, delivery: Delivery): void {
    inFlight += 1;
    void attempt(delivery, lane.receiver).then((outcome) => {
      inFlight -= 1;
      lane.sent();
      lane.limit.learn(outcome);
      const restMs = lane.limit.restMs();
      if (restMs > 0) rest(lane, restMs);
      void record(outcome).then(() => settle(lane, delivery));
      offerTurn(lane);
      pump();
    });
  }

  function settle(lane: Lane, delivery: Delivery): void {
    lane.settle(delivery);
    lane.forget(1);
    held -= 1;
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
    /** Makes room for up to `wanted` deliveries and tells for how many. */
    reserve(receiver: Receiver, wanted: number): number {
      if (stopped) return 0;
      const lane = laneOf(receiver);
      const share = Math.floor((MAX_HELD - held) * SHARE_OF_FREE);
      const granted = Math.max(0, Math.min(wanted, lane.room(), share - lane.held()));
      lane.reserve(granted);
      held += granted;
      return granted;
    },

    /** Takes back what was reserved and not used. */
    unreserve(subscriptionGuid: string, count: number): void {
      lanes.get(subscriptionGuid)?.forget(count);
      held -= count;
    },

    /** Deliveries for which there is a reservation. */
    add(receiver: Receiver, deliveries: readonly Delivery[]): void {
      const lane = laneOf(receiver);
      lane.put(deliveries);
      setReceiver(lane, receiver);
      offerTurn(lane);
      pump();
    },

    /** The database may have more for this subscription than there was room for; true when there is room again. */
    expectMore(receiver: Receiver, more: boolean): boolean {
      const lane = laneOf(receiver);
      lane.more = more;
      return lane.isHungry();
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

    hungry: () => guidsOf((lane) => lane.isHungry()),
    waiting: () => guidsOf((lane) => lane.isWaiting()),
    /** Of every delivery that is held: waiting, under way, or not written down yet. */
    heldGuids: () => [...lanes.values()].flatMap((lane) => lane.heldGuids()),

    /** Everything that is not under way, taken out. */
    empty(): Delivery[] {
      ready = [];
      return [...lanes.values()].flatMap((lane) => {
        lane.inTurn = false;
        return takeWaiting(lane);
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
      return { inFlight, held, limited };
    },
  };
}
