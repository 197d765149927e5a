import type { Transaction } from '../../../../infrastructure/database/database.ts';
import type { RedeliveryKind } from '../../../../infrastructure/database/tables.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import type { Event } from '../../../events/service.ts';
import type { EventWindow, EventWindows } from '../../../events/windows.ts';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Enqueue } from '../../queue/enqueue.ts';
import { countFailed, selectFailed } from './failed-store.ts';
import type { Redelivery, Window } from './redelivery-store.ts';
import { selectEarlierDeliveries } from './replay-store.ts';
import { countWaiting, makeDue, selectWaiting } from './waiting-store.ts';

/** Deliveries of one transaction. */
const BATCH = 500;

type Step = {
  /** Deliveries or events that were processed, and how many of them are sent. */
  processed: number;
  redelivered: number;
  /** The last guid that was processed. */
  reached: string | undefined;
  isLast: boolean;
};

type RedeliverySource = {
  total(transaction: Transaction, window: Window & Owner): Promise<number>;
  step(transaction: Transaction, redelivery: Redelivery, endpoint: Endpoint): Promise<Step>;
};

type Owner = Pick<Redelivery, 'organization_guid' | 'environment'>;

type Deps = { clock: Clock; enqueueFor: Enqueue['enqueueFor']; eventWindows: EventWindows };

/** What each kind of redelivery sends, one batch at a time. */
export function createRedeliverySources({
  clock,
  enqueueFor,
  eventWindows,
}: Deps): Record<RedeliveryKind, RedeliverySource> {
  return {
    /** New deliveries for failed ones, unless the event was redelivered before. */
    failed: {
      total: countFailed,
      async step(transaction, redelivery, endpoint) {
        const failed = await selectFailed(transaction, redelivery, BATCH);
        const events = failed.filter(({ superseded }) => !superseded).map(({ event }) => event);
        await enqueueFor(transaction, endpoint, events, requestedBy(redelivery));
        return {
          processed: failed.length,
          redelivered: events.length,
          reached: failed.at(-1)?.guid,
          isLast: failed.length < BATCH,
        };
      },
    },

    /** The next attempts of waiting deliveries are due now, except during a Retry-After of the endpoint. */
    waiting: {
      total: countWaiting,
      async step(transaction, redelivery, { guid }) {
        const now = clock.now();
        const waiting = await selectWaiting(transaction, redelivery, { now, limit: BATCH });
        const inWindow = waiting.filter(({ is_in_window: isInWindow }) => isInWindow);
        const retried = inWindow.filter(({ is_paused: isPaused }) => !isPaused);
        const guids = retried.map((delivery) => delivery.guid);
        return {
          processed: inWindow.length,
          redelivered: guids.length === 0 ? 0 : await makeDue(transaction, guid, guids, now),
          reached: waiting.at(-1)?.guid,
          isLast: waiting.length < BATCH,
        };
      },
    },

    /** New deliveries for all events, also for those created before the subscription. */
    all: {
      total: (transaction, window) => eventWindows.count(transaction, eventWindowOf(window)),
      async step(transaction, redelivery, endpoint) {
        const window = eventWindowOf(redelivery);
        const after = redelivery.reached;
        const { events, reached } = await eventWindows.read(transaction, window, { after, limit: BATCH });
        const replayed = await replayable(transaction, redelivery, events);
        await enqueueFor(transaction, endpoint, replayed, requestedBy(redelivery));
        return {
          processed: events.length,
          redelivered: replayed.length,
          reached,
          isLast: reached === undefined,
        };
      },
    },
  };
}

/** Excludes events whose delivery still waits, and test events of other subscriptions. */
async function replayable(
  transaction: Transaction,
  { subscription_guid: subscriptionGuid, since }: Redelivery,
  events: readonly Event[],
): Promise<Event[]> {
  const eventGuids = events.map(({ guid }) => guid);
  const earlier = new Map(
    (await selectEarlierDeliveries(transaction, subscriptionGuid, { eventGuids, since })).map(
      ({ event_guid: guid, is_waiting: isWaiting }) => [guid, isWaiting],
    ),
  );
  return events.filter((event) => !(earlier.get(event.guid) ?? isOfOther(event, subscriptionGuid)));
}

/** A test event is a `subscription.storing` that only its own subscription receives. */
function isOfOther({ event_type: type, object_guid: guid }: Event, subscriptionGuid: string): boolean {
  return type === 'subscription.storing' && guid !== subscriptionGuid;
}

function eventWindowOf({ organization_guid, environment, since, until }: Window & Owner): EventWindow {
  return { organizationGuid: organization_guid, environment, since, until };
}

function requestedBy({ guid }: { guid: string }) {
  return { as: 'recovery' as const, by: { type: 'recovery' as const, id: guid } };
}
