import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { FailureError } from '../../infrastructure/http/errors.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Endpoint } from '../subscriptions/endpoints.ts';
import type { Visible } from '../visible.ts';
import { EVENT_TYPES, type EventType } from './catalogue.ts';
import type { EventCounters } from './counters.ts';
import {
  type Event,
  type EventFilters,
  insertEvents,
  insertNewEvents,
  selectEvents,
  selectNamedEvents,
} from './store.ts';

export type { Event, EventFilters } from './store.ts';

export type NewEvent = {
  /** Set by the platform's core, which makes its retries idempotent. */
  guid?: string | undefined;
  organizationGuid: string;
  bankGuid?: string | undefined;
  eventType: EventType;
  objectGuid: string;
  environment: EnvironmentName;
};

const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

export type Events = ReturnType<typeof createEvents>;

type Deps = Base & {
  /** Counts committed events. */
  counters: Pick<EventCounters, 'note'>;
  freezes: Pick<Freezes, 'all' | 'among'>;
  /** Creates the deliveries in the same transaction. */
  enqueue(
    transaction: Transaction,
    events: readonly Event[],
    receivers?: readonly Endpoint[],
  ): Promise<unknown>;
};

type Publishing = {
  /** The endpoints of the Organizations, if the caller knows them in this transaction. */
  receivers?: readonly Endpoint[];
  /** No guid should exist. If one does, the transaction is rolled back (`wasRolledBack`), and the caller repeats it. */
  areNew?: boolean;
};

/** Returns the new events, without repetitions of a guid in the same call. */
async function insert(
  transaction: Transaction,
  events: readonly Event[],
  createdAt: Date,
  mayRepeat: boolean,
): Promise<readonly Event[]> {
  // Only a guid from the core can exist already.
  if (mayRepeat) {
    const seen = await insertEvents(transaction, events, createdAt);
    return events.filter(({ guid }) => !seen.has(guid) && seen.add(guid));
  }
  await insertNewEvents(transaction, events, createdAt);
  return events;
}

type Published = { events: Event[]; created: ReadonlySet<string> };

export function createEvents({ database, clock, guids, metrics, counters, freezes, enqueue }: Deps) {
  const publishing = new Map<Transaction, PromiseWithResolvers<void>>();

  function trackEnd(transaction: Transaction): void {
    if (publishing.has(transaction)) return;
    const ended = Promise.withResolvers<void>();
    publishing.set(transaction, ended);
    database.onEnd(transaction, () => {
      publishing.delete(transaction);
      ended.resolve();
    });
  }

  /** Returns the new events as `fresh`, each once. */
  async function write(
    transaction: Transaction,
    newEvents: readonly NewEvent[],
    areNew = false,
  ): Promise<Published & { fresh: readonly Event[] }> {
    if (newEvents.length === 0) return { events: [], created: new Set(), fresh: [] };
    // Before the check: a freeze waits for the transactions that pass it, see `whenIdle`.
    trackEnd(transaction);
    const owners = new Set(newEvents.map(({ organizationGuid }) => organizationGuid));
    const [frozen] = (await freezes.among(owners, transaction)).values();
    if (frozen) throw new FailureError(frozen);
    const createdAt = clock.now();
    const events = newEvents.map((event) => ({
      guid: event.guid ?? guids.next(),
      organization_guid: event.organizationGuid,
      bank_guid: event.bankGuid ?? null,
      event_type: event.eventType,
      object_guid: event.objectGuid,
      environment: event.environment,
      created_at: createdAt,
    }));
    const mayRepeat = !areNew && newEvents.some(({ guid }) => guid);
    const fresh = await insert(transaction, events, createdAt, mayRepeat);
    const created = new Set(fresh.map(({ guid }) => guid));
    database.onEnd(transaction, (ending) => {
      if (ending !== 'committed') return;
      for (const [event_type, { length }] of Map.groupBy(fresh, (event) => event.event_type))
        metrics.eventsPublished.inc({ event_type }, length);
      counters.note(fresh);
    });
    return { events, created, fresh };
  }

  return {
    /**
     * Publishes events in the transaction of the change. An event whose guid exists is not delivered again.
     */
    async publish(
      transaction: Transaction,
      newEvents: readonly NewEvent[],
      { receivers, areNew }: Publishing = {},
    ): Promise<Published> {
      const { fresh, ...published } = await write(transaction, newEvents, areNew);
      if (fresh.length > 0) await enqueue(transaction, fresh, receivers);
      return published;
    },

    /** Records an event without deliveries; the caller creates them in the same transaction. */
    async record(transaction: Transaction, newEvent: Omit<NewEvent, 'guid'>): Promise<Event> {
      const { events } = await write(transaction, [newEvent]);
      return events[0] as Event;
    },

    /** The same for several, in their order. */
    async recordAll(
      transaction: Transaction,
      newEvents: readonly Omit<NewEvent, 'guid'>[],
    ): Promise<Event[]> {
      const { events } = await write(transaction, newEvents);
      return events;
    },

    /**
     * Organizations whose events are refused now. A batch of several Organizations leaves them out, because one
     * refused event rolls back the transaction of all.
     */
    refusedOrganizations: (queries: Queries): Promise<ReadonlySet<string>> => freezes.all(queries),

    /** Resolves when the transactions that publish events now have ended. */
    whenIdle: () => Promise.all(Array.from(publishing.values(), ({ promise }) => promise)),

    async get(visible: Visible, guid: string): Promise<Event | Failure> {
      const [event] = await selectNamedEvents(database.queries, visible, [guid]);
      return event ?? new Failure('not_found', 'There is no such event');
    },

    /** Without those that are gone. */
    async named(visible: Visible, guids: readonly string[]): Promise<Event[]> {
      return guids.length > 0 ? selectNamedEvents(database.lists, visible, guids) : [];
    },

    refusalOf(filters: EventFilters): Failure | undefined {
      const unknown = filters.eventType?.find((name) => !KNOWN_TYPES.has(name));
      if (unknown === undefined) return undefined;
      return new Failure(
        'invalid_parameter',
        `event_type must be an event type such as transfer.completed; got ${unknown}`,
      );
    },

    list: (visible: Visible, page: Page, filters: EventFilters): Promise<PageOf<Event>> =>
      selectEvents(database.lists, visible, page, filters),
  };
}
