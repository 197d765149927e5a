import type { Database } from '../../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../../infrastructure/database/paging/paging.ts';
import { knownValues } from '../../../infrastructure/http/requests/filters.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import type { Event, EventFilters, Events } from '../../events/service.ts';
import type { Visible } from '../../visible.ts';
import { guidsOfWindow } from '../guid-window.ts';
import type { Deliveries } from '../service.ts';
import { DELIVERY_STATES, type DeliveryState, stateOf } from '../state.ts';
import { forceIndexOrder, type Owned } from '../store.ts';
import * as store from './event-status-store.ts';

/** Deliveries of one statement, and of one call: a page may be shorter if more would have to be read. */
const CHUNK = 250;
const MAX_EXAMINED = 5_000;

/** Subscriptions by the state of the event's delivery to them. */
export type DeliveryCounts = Record<DeliveryState, number> & { total: number };
export type EventWithCounts = Event & { deliveryCounts?: DeliveryCounts | undefined };
export type EventStatus = ReturnType<typeof createEventStatus>;

type Filters = EventFilters & {
  deliveryState?: readonly string[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  include?: readonly string[] | undefined;
};
type Deps = { database: Database; clock: Clock; events: Events; deliveries: Deliveries };

/** Lists events by the outcome of their deliveries, and counts them for each event of a page. */
export function createEventStatus({ database, clock, events, deliveries }: Deps) {
  async function countsOf(
    visible: Visible,
    subscriptionGuid: readonly string[] | undefined,
    listed: readonly Event[],
  ): Promise<ReadonlyMap<string, DeliveryCounts>> {
    const subscriptionGuids = await deliveries.subscriptionsOf(visible, { subscriptionGuid });
    const earliest = Math.min(...listed.map(({ created_at: at }) => at.getTime()));
    const { from: lowest } = guidsOfWindow(new Date(earliest), undefined);
    const rows =
      listed.length > 0 && lowest !== undefined
        ? await store.selectDeliveriesOfEvents(
            database.lists,
            { visible, subscriptionGuids },
            listed.map(({ guid }) => guid),
            lowest,
          )
        : [];
    const now = clock.now();
    const ofEvent = Map.groupBy(rows, (row) => row.event_guid);
    return new Map(listed.map(({ guid }) => [guid, countStates(ofEvent.get(guid) ?? [], now)]));
  }

  async function selectMatching(visible: Visible, page: Page, filters: Filters, states: States) {
    const owned = {
      visible,
      subscriptionGuids: await deliveries.subscriptionsOf(visible, {
        subscriptionGuid: filters.subscriptionGuid,
        environment: filters.environment,
      }),
    };
    if (owned.subscriptionGuids.length === 0) return { rows: [], total: 0, next: undefined };
    const wanted = { ...filters, state: states };
    const found = await database.lists.transaction().execute(async (transaction) => {
      await forceIndexOrder(transaction);
      return walk(transaction, owned, page, wanted, clock.now());
    });
    const byGuid = new Map(
      (await events.named(visible, found.eventGuids)).map((event) => [event.guid, event]),
    );
    return { ...found, rows: found.eventGuids.flatMap((guid) => byGuid.get(guid) ?? []) };
  }

  return {
    async list(visible: Visible, page: Page, filters: Filters): Promise<PageOf<EventWithCounts> | Failure> {
      const { deliveryState, subscriptionGuid, include, ...others } = filters;
      const states = knownValues('delivery_state', deliveryState, DELIVERY_STATES);
      if (isFailure(states)) return states;
      const unknown = include?.find((name) => name !== 'delivery_counts');
      if (unknown !== undefined)
        return new Failure('invalid_parameter', `include must be delivery_counts; got ${unknown}`);
      const isByDelivery = states !== undefined || subscriptionGuid !== undefined;
      // Few events have a guid or an object in common: they are read first and compared then.
      const isNamed = others.guid !== undefined || others.objectGuid !== undefined;
      if (isByDelivery && page.offset > 0)
        return new Failure(
          'invalid_parameter',
          'page cannot be combined with delivery_state or subscription_guid; use after',
        );
      const refused = events.refusalOf(others);
      if (refused) return refused;
      const found =
        isByDelivery && !isNamed
          ? await selectMatching(visible, page, filters, states)
          : await events.list(visible, page, others);
      if (isFailure(found)) return found;
      if (!include && !(isByDelivery && isNamed)) return found;
      const counts = await countsOf(visible, isNamed ? subscriptionGuid : undefined, found.rows);
      const listed = found.rows.filter(
        ({ guid }) => !(isByDelivery && isNamed) || hasState(counts.get(guid), states),
      );
      return {
        ...found,
        rows: listed.map((event) => ({ ...event, deliveryCounts: counts.get(event.guid) })),
      };
    },
  };
}

type States = readonly DeliveryState[] | undefined;

async function walk(
  transaction: Parameters<typeof store.selectCandidates>[0],
  owned: Owned,
  { perPage, after }: Page,
  filters: store.EventStatusFilters,
  now: Date,
) {
  const found: store.Candidate[] = [];
  let before = after;
  let isEnd = false;
  for (let examined = 0; examined < MAX_EXAMINED && !isEnd && found.length <= perPage; examined += CHUNK) {
    const place = { limit: CHUNK, before, now };
    const candidates = await store.selectCandidates(transaction, owned, filters, place);
    found.push(...candidates.filter(({ matches }) => matches));
    before = candidates.at(-1)?.guid ?? before;
    isEnd = candidates.length < CHUNK;
  }
  const rows = found.slice(0, perPage);
  const isWhole = isEnd && found.length <= perPage;
  const next = found.length > perPage ? rows.at(-1)?.guid : before;
  return {
    eventGuids: rows.map(({ event_guid: guid }) => guid),
    total:
      isWhole && after === undefined
        ? rows.length
        : await store.countCandidates(transaction, owned, filters, now),
    next: isWhole ? undefined : next,
  };
}

/** The rows are newest first. */
function countStates(rows: readonly store.StatusRow[], now: Date): DeliveryCounts {
  const counts = { total: 0, storing: 0, failing: 0, completed: 0, failed: 0 };
  for (const [newest, ...older] of Map.groupBy(rows, (row) => row.subscription_guid).values()) {
    if (!newest) continue;
    const isCompleted = [newest, ...older].some(({ completed_at: at }) => at !== null);
    counts[isCompleted ? 'completed' : stateOf(newest, now)] += 1;
    counts.total += 1;
  }
  return counts;
}

function hasState(counts: DeliveryCounts | undefined, states: States): boolean {
  if (!counts) return false;
  return states ? states.some((state) => counts[state] > 0) : counts.total > 0;
}
