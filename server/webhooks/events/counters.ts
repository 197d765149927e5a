import type { Queries } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import {
  addEventCounts,
  deleteWritersBefore,
  type EventCount,
  selectEventCounts,
  type Window,
} from './counter-store.ts';
import type { Event } from './store.ts';

/**
 * How many events each minute brought. They are counted in memory once they are committed, and written down some
 * seconds later, all in one statement: no event waits for it, and what a crash loses is seconds of a chart.
 */
export type EventCounters = ReturnType<typeof createEventCounters>;

const MINUTE_MS = 60_000;
const FLUSH_AFTER_MS = 5_000;
/** Minutes of Organizations; more than these are not counted while the database is away. */
const MAX_WAITING = 10_000;
/** A write that is still tried again by then would be counted twice. */
const FORGET_WRITERS_AFTER_MS = 24 * 3_600_000;

type Deps = { queries: Queries; clock: Clock; timers: Timers; guids: Guids; log: Log };
type Counted = Pick<Event, 'organization_guid' | 'environment' | 'created_at'>;

export function createEventCounters({ queries, clock, timers, guids, log }: Deps) {
  const writer = guids.next();
  let sequence = 0;
  /** A write that may have happened or not: it is tried again as it is, before anything else is written. */
  let unanswered: readonly EventCount[] | undefined;
  let waiting = new Map<string, EventCount>();
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;

  function add({ organizationGuid, environment, minute, events }: EventCount): EventCount | undefined {
    const key = `${organizationGuid}${environment}${minute.getTime()}`;
    const known = waiting.get(key);
    if (known) known.events += events;
    else if (waiting.size < MAX_WAITING) waiting.set(key, { organizationGuid, environment, minute, events });
    return waiting.get(key);
  }

  function flushLater(): void {
    cancel ??= timers.after(FLUSH_AFTER_MS, () => {
      cancel = undefined;
      void flush();
    });
  }

  function nextWrite(): readonly EventCount[] {
    const counts = [...waiting.values()];
    waiting = new Map();
    sequence += 1;
    return counts;
  }

  async function write(): Promise<void> {
    while (unanswered || waiting.size > 0) {
      unanswered ??= nextWrite();
      try {
        await addEventCounts(queries, { writer, sequence, at: clock.now() }, unanswered);
        unanswered = undefined;
      } catch (error) {
        log.warn({ reason: String(error) }, 'could not write event counts; retrying');
        return flushLater();
      }
    }
  }

  async function flush(): Promise<void> {
    while (writing) await writing;
    if (!unanswered && waiting.size === 0) return;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  return {
    /** Of one transaction, and so of one moment. */
    note(events: readonly Counted[]): void {
      const [first] = events;
      if (!first) return;
      const minute = new Date(Math.floor(first.created_at.getTime() / MINUTE_MS) * MINUTE_MS);
      let last: EventCount | undefined;
      // Mostly they come one Organization at a time.
      for (const { organization_guid: organizationGuid, environment } of events)
        if (last?.organizationGuid === organizationGuid && last.environment === environment) last.events += 1;
        else last = add({ organizationGuid, environment, minute, events: 1 });
      flushLater();
    },

    flush,

    /** As far as they are written down, in steps; steps without events are left out. */
    read: (organizationGuid: string, environments: readonly EnvironmentName[], window: Window) =>
      selectEventCounts(queries, organizationGuid, environments, window),

    /** Forgets the processes that are gone; gives how many. */
    sweep: () => deleteWritersBefore(queries, new Date(clock.now().getTime() - FORGET_WRITERS_AFTER_MS)),

    /** Writes what it has; what cannot be written now is given up. */
    async stop(): Promise<void> {
      await flush();
      cancel?.();
      cancel = undefined;
    },
  };
}
