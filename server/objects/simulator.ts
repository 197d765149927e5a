import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Clock, Timers } from '../infrastructure/runtime/clock.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Events, NewEvent } from '../webhooks/events/service.ts';
import { nextTransition } from './machine.ts';
import { eventsOf } from './records.ts';
import * as store from './simulation-store.ts';
import type { ObjectRow } from './store.ts';
import { OBJECT_TYPES, type ObjectType } from './types.ts';

/** The channel on which API processes wake the simulators. */
const CHANNEL = 'objects';
/** Objects per transaction. */
const BATCH = 100;
/** A look in any case, so that a lost message makes a move late and never loses it. */
const LOOK_EVERY_MS = 10_000;
/** Looks follow each other at this distance at least: what is due may be held by somebody else. */
const MIN_GAP_MS = 20;
const RETRY_AFTER_MS = 1_000;

const NO_TRANSITION = { ending: null, next_move_at: null };

export type Simulator = ReturnType<typeof createSimulator>;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  log: Log;
  notifications: Notifications;
  events: Events;
  /** How long an object stays in each state. */
  delayMs: number;
};

/**
 * Moves the sandbox objects of partners through their states. Each row holds its next transition and time, and
 * each transition commits with its events, so any number of processes can do this and any of them may die.
 */
export function createSimulator({ database, clock, timers, log, notifications, events, delayMs }: Deps) {
  const types = new Map(OBJECT_TYPES.map((type) => [type.name, type]));
  const names = [...types.keys()];
  let running = false;
  let round: Promise<void> | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let cancel = () => {};

  /** The next transition; none when the object is at its ending or off the path to it. */
  function plan(
    { machine }: ObjectType,
    state: string | null,
    ending: string | undefined,
    now: Date,
  ): Pick<ObjectRow, 'ending' | 'next_move_at'> {
    if (!machine || state === null || ending === undefined) return NO_TRANSITION;
    const next = nextTransition(machine, state, ending);
    return next
      ? { ending, next_move_at: new Date(now.getTime() + (next.afterMs ?? delayMs)) }
      : NO_TRANSITION;
  }

  function move(object: ObjectRow, now: Date): { object: ObjectRow; events: NewEvent[] } {
    const type = types.get(object.type) as ObjectType;
    const { machine } = type;
    const { state, ending } = object;
    const next =
      machine && state !== null && ending !== null ? nextTransition(machine, state, ending) : undefined;
    // An older version may have planned a path that no longer exists: the simulation then ends.
    if (!machine || ending === null || !next) return { object: { ...object, ...NO_TRANSITION }, events: [] };
    const moved = {
      ...object,
      state: next.to,
      details: machine.derived?.reach(object.details, next.to) ?? object.details,
      ...plan(type, next.to, ending, now),
    };
    return { object: moved, events: eventsOf(type, state, moved) };
  }

  /** Moves one batch of due objects and returns its size. */
  function step(): Promise<number> {
    return database.transaction(async (transaction) => {
      const now = clock.now();
      const due = await store.lockDue(transaction, names, now, BATCH);
      if (due.length === 0) return 0;
      const moves = due.map((object) => move(object, now));
      const moved = moves.map(({ object: { guid, state, details, ending, next_move_at } }) => ({
        ...{ guid, state, details, ending, next_move_at },
      }));
      await store.updateMoved(transaction, moved, now);
      await events.publish(
        transaction,
        moves.flatMap((each) => each.events),
      );
      return due.length;
    });
  }

  /** Moves all objects that are due now, repeatedly. */
  async function drain(): Promise<void> {
    while ((await step()) > 0);
  }

  async function look(): Promise<void> {
    try {
      while (running && (await step()) > 0);
      const next = await store.selectNextMoveAt(database.queries, names);
      const now = clock.now().getTime();
      wakeAt(Math.max(now + MIN_GAP_MS, Math.min(next?.getTime() ?? Infinity, now + LOOK_EVERY_MS)));
    } catch (error) {
      log.warn({ err: error }, 'objects could not be moved; trying again');
      wakeAt(clock.now().getTime() + RETRY_AFTER_MS);
    }
  }

  function wakeAt(moment: number): void {
    if (!running || moment >= dueAt) return;
    dueAt = moment;
    cancel();
    cancel = timers.after(Math.max(0, moment - clock.now().getTime()), () => {
      dueAt = Number.POSITIVE_INFINITY;
      // Whoever wakes during a look shares the one after it.
      if (round) void round.then(wake);
      else
        round = look().finally(() => {
          round = undefined;
        });
    });
  }

  function wake(): void {
    wakeAt(clock.now().getTime());
  }

  let telling = false;
  let tellAgain = false;
  /** Outside of every transaction, and what comes while one is on its way shares the next. */
  async function tellOthers(): Promise<void> {
    tellAgain = true;
    if (telling) return;
    telling = true;
    while (tellAgain) {
      tellAgain = false;
      await notifications
        .notify(CHANNEL)
        .catch((error: unknown) => log.debug({ reason: String(error) }, 'the simulators were not woken'));
    }
    telling = false;
  }

  return {
    plan,
    drain,

    /** Schedules a round for a new object, in this process or, by notification, in one that simulates. */
    expect(moment: Date): void {
      if (running) wakeAt(moment.getTime());
      else void tellOthers();
    },

    async start(): Promise<void> {
      running = true;
      await notifications.listen(CHANNEL, wake);
      wake();
    },

    async stop(): Promise<void> {
      running = false;
      cancel();
      dueAt = Number.POSITIVE_INFINITY;
      await round;
    },
  };
}
