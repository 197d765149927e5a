import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { MAX_COUNTED } from '../../infrastructure/database/paging/paging.ts';
import { maxAgeMs } from '../../infrastructure/database/partitions/periods.ts';
import type { EventCounters } from './counters.ts';
import type { Event } from './store.ts';
import { countWindow, type EventWindow, selectLastRead, selectWindow } from './window-store.ts';

export type { EventWindow } from './window-store.ts';
export type EventWindows = ReturnType<typeof createEventWindows>;

/** Guids may be a week older than `created_at`, so a step may read many events that are not in the window. */
const MAX_READ_PER_STEP = 5_000;
/** Of the window, and of the guids on each side of it. More than `MAX_COUNTED`. */
const MAX_READ_TO_COUNT = 40_000;
const MINUTE_MS = 60_000;

type Deps = { counters: Pick<EventCounters, 'read'>; retentionDays: number };

/** Events by the time of their creation, for redeliveries. */
export function createEventWindows({ counters, retentionDays }: Deps) {
  /** From the counters of whole minutes. */
  async function estimate({ organizationGuid, environment, since, until: to }: EventWindow): Promise<number> {
    // `since` may be any date: a start long before the history would exceed the range of the step.
    const from = wholeMinute(new Date(Math.max(since.getTime(), to.getTime() - maxAgeMs(retentionDays))));
    const stepSeconds = Math.ceil((to.getTime() - from.getTime()) / 1_000);
    const steps = await counters.read(organizationGuid, [environment], { from, to, stepSeconds });
    return steps.reduce((sum, { events }) => sum + Number(events), 0);
  }

  return {
    /** Exact below `MAX_COUNTED`, unless tens of thousands of events surround the window; beyond that estimated. */
    async count(queries: Queries, window: EventWindow): Promise<number> {
      const { counted, isPartial } = await countWindow(queries, window, MAX_READ_TO_COUNT);
      return counted < MAX_COUNTED && !isPartial ? counted : Math.max(counted, await estimate(window));
    },

    /** The next events after a guid, in guid order. `reached` is undefined at the end of the window. */
    async read(
      transaction: Transaction,
      window: EventWindow,
      { after, limit }: { after: string | null; limit: number },
    ): Promise<{ events: Event[]; reached: string | undefined }> {
      const lastRead = await selectLastRead(transaction, window, { after, maxRead: MAX_READ_PER_STEP });
      const events = await selectWindow(transaction, window, { after, lastRead, limit });
      return { events, reached: events.length === limit ? events.at(-1)?.guid : lastRead };
    },
  };
}

function wholeMinute(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS);
}
