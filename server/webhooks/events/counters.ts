import type { Queries } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import { createDelayedFlush } from '../../infrastructure/runtime/delayed-flush.ts';
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

export type { Window } from './counter-store.ts';

/**
 * Events per minute, for the charts. Counted in memory after the commit and written every few seconds in one statement;
 * a crash loses some seconds of a chart.
 */
export type EventCounters = ReturnType<typeof createEventCounters>;

const MINUTE_MS = 60_000;
const FLUSH_AFTER_MS = 5_000;
/** Counts in memory; further ones are dropped while the database is unavailable. */
const MAX_WAITING = 10_000;
/** Longer than any write is retried; a later retry would count twice. */
const FORGET_WRITERS_AFTER_MS = 24 * 3_600_000;

type Deps = { queries: Queries; clock: Clock; timers: Timers; guids: Guids; log: Log };
type Counted = Pick<Event, 'organization_guid' | 'environment' | 'created_at'>;

export function createEventCounters({ queries, clock, timers, guids, log }: Deps) {
  const writer = guids.next();
  let sequence = 0;
  /** A write with unknown result: it is retried unchanged before any other. */
  let unanswered: readonly EventCount[] | undefined;
  let waiting = new Map<string, EventCount>();

  function add({ organizationGuid, environment, minute, events }: EventCount): EventCount | undefined {
    const key = `${organizationGuid}${environment}${minute.getTime()}`;
    const known = waiting.get(key);
    if (known) known.events += events;
    else if (waiting.size < MAX_WAITING) waiting.set(key, { organizationGuid, environment, minute, events });
    return waiting.get(key);
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
        return flushing.schedule();
      }
    }
  }

  const flushing = createDelayedFlush({ timers, delayMs: FLUSH_AFTER_MS, write });

  return {
    /** Counts the events of one committed transaction, which share one `created_at`. */
    note(events: readonly Counted[]): void {
      const [first] = events;
      if (!first) return;
      const minute = new Date(Math.floor(first.created_at.getTime() / MINUTE_MS) * MINUTE_MS);
      let last: EventCount | undefined;
      // Consecutive events mostly belong to the same Organization.
      for (const { organization_guid: organizationGuid, environment } of events)
        if (last?.organizationGuid === organizationGuid && last.environment === environment) last.events += 1;
        else last = add({ organizationGuid, environment, minute, events: 1 });
      flushing.schedule();
    },

    /** Written counts per step; omits steps without events. */
    read: (organizationGuid: string, environments: readonly EnvironmentName[], window: Window) =>
      selectEventCounts(queries, organizationGuid, environments, window),

    /** Deletes writers of ended processes; returns their number. */
    sweep: () => deleteWritersBefore(queries, new Date(clock.now().getTime() - FORGET_WRITERS_AFTER_MS)),

    /** `last` is for a shutdown: counts that cannot be written then are lost. */
    async flush({ last = false } = {}): Promise<void> {
      await flushing.flush();
      if (last) flushing.cancel();
    },
  };
}
