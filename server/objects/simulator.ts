import { createPolling, type Polling } from '../infrastructure/background/polling.ts';
import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Clock, Timers } from '../infrastructure/runtime/clock.ts';
import { coalesce } from '../infrastructure/runtime/coalesce.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Events, NewEvent } from '../webhooks/events/service.ts';
import { nextMove } from './machine.ts';
import { eventsOf } from './records.ts';
import * as store from './simulation-store.ts';
import type { ObjectRow } from './store.ts';
import { OBJECT_TYPES, type ObjectType } from './types.ts';

/** Channel on which processes that only serve the API tell the others that something is to be moved. */
const CHANNEL = 'objects';
/** Objects of one transaction. */
const BATCH = 100;
const MAX_POLL_INTERVAL_MS = 10_000;
/** Objects that are due may be locked by another process. */
const MIN_POLL_INTERVAL_MS = 20;

const AT_REST = { ending: null, next_move_at: null };

export type Simulator = ReturnType<typeof createSimulator>;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  log: Log;
  notifications: Notifications;
  events: Events;
  /** How long an object stays in each state on its way. */
  delayMs: number;
};

/**
 * Takes the objects that partners created in sandbox through their states. What comes next and when stands in each
 * row, and each move commits with its event: any number of processes do this at once, and any of them may die.
 */
export function createSimulator({ database, clock, timers, log, notifications, events, delayMs }: Deps) {
  const types = new Map(OBJECT_TYPES.map((type) => [type.name, type]));
  const names = [...types.keys()];
  let polling: Polling | undefined;

  /** Where an object goes from here and when; nowhere, once it is at its ending or off the way to it. */
  function plan(
    { machine }: ObjectType,
    state: string | null,
    ending: string | undefined,
    now: Date,
  ): Pick<ObjectRow, 'ending' | 'next_move_at'> {
    if (!machine || state === null || ending === undefined) return AT_REST;
    const next = nextMove(machine, state, ending);
    return next ? { ending, next_move_at: new Date(now.getTime() + (next.afterMs ?? delayMs)) } : AT_REST;
  }

  function move(object: ObjectRow, now: Date): { object: ObjectRow; events: NewEvent[] } {
    const type = types.get(object.type) as ObjectType;
    const { machine } = type;
    const { state, ending } = object;
    const next = machine && state !== null && ending !== null ? nextMove(machine, state, ending) : undefined;
    // A version with other ways may have planned it: then it has arrived.
    if (!machine || ending === null || !next) return { object: { ...object, ...AT_REST }, events: [] };
    const moved = {
      ...object,
      state: next.to,
      details: machine.derived?.reach(object.details, next.to) ?? object.details,
      ...plan(type, next.to, ending, now),
    };
    return { object: moved, events: eventsOf(type, state, moved) };
  }

  /** A batch of what is due; gives how many. */
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

  /** Everything that is due now, and what becomes due by it. */
  async function settle(): Promise<void> {
    while ((await step()) > 0);
  }

  const startPolling = () =>
    createPolling({
      ...{ clock, timers, log, maxIntervalMs: MAX_POLL_INTERVAL_MS, minIntervalMs: 0 },
      failureMessage: 'objects could not be moved; trying again',
      async poll() {
        while (polling && (await step()) > 0);
        const next = await store.selectNextMoveAt(database.queries, names);
        const earliest = clock.now().getTime() + MIN_POLL_INTERVAL_MS;
        return { progress: false, nextDueAt: next && new Date(Math.max(next.getTime(), earliest)) };
      },
    });

  const notifyOthers = coalesce(() =>
    notifications
      .notify(CHANNEL)
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not wake the simulators')),
  );

  return {
    plan,
    settle,

    /** An object is to be moved at that moment, by this process if it does such work. */
    expect(moment: Date): void {
      if (polling) polling.wakeAt(moment);
      else void notifyOthers();
    },

    async start(): Promise<void> {
      polling = startPolling();
      await notifications.listen(CHANNEL, () => polling?.wake());
      polling.wake();
    },

    async stop(): Promise<void> {
      const stopped = polling;
      polling = undefined;
      await stopped?.stop();
    },
  };
}
