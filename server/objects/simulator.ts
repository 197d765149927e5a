import { createPolling, type Polling } from '../infrastructure/background/polling.ts';
import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Clock, Timers } from '../infrastructure/runtime/clock.ts';
import { coalesce } from '../infrastructure/runtime/coalesce.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Events, NewEvent } from '../webhooks/events/service.ts';
import { nextTransition } from './machine.ts';
import { type Balances, lockBalances } from './market/balances.ts';
import { eventsOf } from './records.ts';
import * as store from './simulation-store.ts';
import type { ObjectRow } from './store.ts';
import { OBJECT_TYPES, type ObjectType } from './types.ts';

/** The channel on which API processes wake the simulators. */
const CHANNEL = 'objects';
/** Objects per transaction. */
const BATCH = 100;
const MAX_POLL_INTERVAL_MS = 10_000;
/** Objects that are due may be locked by another process. */
const MIN_POLL_INTERVAL_MS = 20;

const COMPLETED = 'completed';
/** Instead of `completed`, when a balance does not suffice. */
const FAILED = 'failed';
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
  const account = types.get('account') as ObjectType;
  let polling: Polling | undefined;

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

  function nextStateOf({ type, state, ending }: ObjectRow): string | undefined {
    const machine = types.get(type)?.machine;
    if (!machine || state === null || ending === null) return undefined;
    return nextTransition(machine, state, ending)?.to;
  }

  function move(
    object: ObjectRow,
    balances: Balances,
    now: Date,
  ): { object: ObjectRow; events: readonly NewEvent[] } {
    const type = types.get(object.type) as ObjectType;
    const next = nextStateOf(object);
    // An older version may have planned a path that no longer exists: the simulation then ends.
    if (next === undefined) return { object: { ...object, ...NO_TRANSITION }, events: [] };
    const ofAccounts = next === COMPLETED ? balances.complete(object) : [];
    const state = ofAccounts ? next : FAILED;
    const moved = {
      ...object,
      state,
      details: reachedDetails(type, object, state),
      ...plan(type, state, object.ending ?? undefined, now),
    };
    return { object: moved, events: [...eventsOf(type, object.state, moved), ...(ofAccounts ?? [])] };
  }

  /** Moves one batch of due objects of these types and returns its size. */
  function stepOf(types: readonly string[]): Promise<number> {
    return database.transaction(async (transaction) => {
      const now = clock.now();
      const refused = await events.refusedOrganizations(transaction);
      const due = await store.lockDue(transaction, { types, refused }, now, BATCH);
      if (due.length === 0) return 0;
      const completing = due.filter((object) => nextStateOf(object) === COMPLETED);
      const balances = await lockBalances(transaction, account, completing);
      const moves = due.map((object) => move(object, balances, now));
      const rows = [...moves.map(({ object }) => object), ...balances.changed()];
      const moved = rows.map(({ guid, state, details, ending, next_move_at }) => ({
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

  /**
   * Accounts apart from all others: a transaction that completes a trade waits for the locks of accounts, and must not
   * hold those of other accounts meanwhile.
   */
  async function step(): Promise<number> {
    const moved = await stepOf(names.filter((name) => name !== account.name));
    return moved + (await stepOf([account.name]));
  }

  const startPolling = () =>
    createPolling({
      ...{ clock, timers, log, maxIntervalMs: MAX_POLL_INTERVAL_MS, minIntervalMs: 0 },
      failureMessage: 'could not move objects; will retry',
      async poll() {
        while (polling && (await step()) > 0);
        const refused = await events.refusedOrganizations(database.queries);
        const next = await store.selectNextMoveAt(database.queries, { types: names, refused });
        const earliest = clock.now().getTime() + MIN_POLL_INTERVAL_MS;
        return { progress: false, nextDueAt: next && new Date(Math.max(next.getTime(), earliest)) };
      },
    });

  const notifyOthers = coalesce(() =>
    notifications
      .notify(CHANNEL)
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not notify the simulators')),
  );

  return {
    plan,
    step,

    /** Schedules a round for a new object, in this process or, by notification, in one that simulates. */
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

function reachedDetails({ machine, generated }: ObjectType, { guid, details }: ObjectRow, state: string) {
  if (generated?.state === state) return { ...details, ...generated.make(guid, details) };
  return machine?.derived?.reach(details, state) ?? details;
}
