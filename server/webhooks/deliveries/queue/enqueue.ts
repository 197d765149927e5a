import type { Database, Ending, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Event } from '../../events/service.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery, DeliveryBatch, DeliveryRequest } from '../delivery.ts';
import type { CreatedAsFailed } from '../recording/created-as-failed.ts';
import type { Dispatcher } from '../sending/dispatcher.ts';
import { insertDeliveries } from './queue-store.ts';
import { insertResends } from './resend-store.ts';

/** From this size on, one batch row costs less than a queue row for each delivery. */
const MIN_BATCH_SIZE = 4;

export type EventContent = Omit<Event, 'created_at'>;

export type Enqueue = ReturnType<typeof createEnqueue>;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  subscriptions: Subscriptions;
  dispatcher: Dispatcher;
  createdAsFailed: Pick<CreatedAsFailed, 'note'>;
};

/**
 * Creates deliveries in the transaction of their event. As many as the dispatcher of this process has capacity for are
 * leased to it and passed on after the commit; the others wait in the queue for any dispatcher.
 */
export function createEnqueue(deps: Deps) {
  const { database, clock, guids, subscriptions, dispatcher, createdAsFailed } = deps;

  async function deliver(
    transaction: Transaction,
    work: readonly (readonly [Endpoint, readonly EventContent[]])[],
    request?: DeliveryRequest,
  ): Promise<Delivery[]> {
    const at = clock.now();
    const isWatched = request !== undefined && request.as !== 'recovery';
    const holder = dispatcher.holder();
    const groups = work
      .filter(([, events]) => events.length > 0)
      .map(([endpoint, events]) => {
        const maySendDirectly = holder && endpoint.delivers && !endpoint.paused && !endpoint.firstOnly;
        const taken = maySendDirectly ? dispatcher.reserve(endpoint, events.length) : 0;
        const batch = taken < MIN_BATCH_SIZE ? undefined : { guid: guids.next(), left: taken };
        const deliveries = events.map((event, index) => {
          const delivery = deliveryOf(event, endpoint, guids.next(), at, index < taken ? batch : undefined);
          return isWatched ? { ...delivery, isWatched } : delivery;
        });
        return { endpoint, deliveries, taken, batch, failed: endpoint.disabled };
      });
    if (groups.length === 0) return [];
    database.onEnd(transaction, (ending) => {
      for (const { endpoint, deliveries, taken } of groups)
        if (holder && taken > 0) passOn(ending, endpoint, deliveries.slice(0, taken), holder);
      const waiting = groups.filter(
        ({ endpoint, deliveries, taken }) =>
          endpoint.delivers && !isHeld(endpoint) && taken < deliveries.length,
      );
      if (ending !== 'rolled back') dispatcher.announce(waiting.map(({ endpoint }) => endpoint));
      if (ending === 'committed')
        for (const { endpoint, deliveries, failed } of groups)
          if (failed) createdAsFailed.note(endpoint.guid, at, deliveries.length);
    });
    await insertDeliveries(transaction, groups, { holder: holder ?? null, at, request });
    const created = groups.flatMap(({ deliveries }) => deliveries);
    // A test event is new: streams have it already.
    if (request && request.as !== 'test_event') await insertResends(transaction, created, at);
    return created;
  }

  function passOn(ending: Ending, endpoint: Endpoint, deliveries: readonly Delivery[], holder: string): void {
    if (ending === 'committed') {
      dispatcher.accept(endpoint, deliveries, holder);
      return;
    }
    dispatcher.unreserve(endpoint, deliveries.length);
    // The commit may have succeeded, and then the deliveries are leased to this process.
    if (ending === 'unknown') dispatcher.release(deliveries, holder);
  }

  return {
    /** Creates deliveries to every subscription that receives these events. */
    async enqueue(
      transaction: Transaction,
      events: readonly EventContent[],
      receivers?: readonly Endpoint[],
    ): Promise<Delivery[]> {
      const byOwner = Map.groupBy(events, ownerOf);
      const organizations = new Set(events.map((event) => event.organization_guid));
      const endpoints = receivers ?? (await subscriptions.endpointsOf(transaction, [...organizations]));
      return deliver(
        transaction,
        endpoints.map((endpoint) => [
          endpoint,
          byOwner.get(`${endpoint.organizationGuid}${endpoint.environment}`) ?? [],
        ]),
      );
    },

    /** Creates deliveries to these subscriptions, in their order. */
    enqueueEach: (
      transaction: Transaction,
      work: readonly (readonly [Endpoint, readonly EventContent[]])[],
    ) => deliver(transaction, work),

    /** Creates deliveries to one subscription. */
    enqueueFor: (
      transaction: Transaction,
      endpoint: Endpoint,
      events: readonly EventContent[],
      request?: DeliveryRequest,
    ) => deliver(transaction, [[endpoint, events]], request),
  };
}

/** While paused nothing is sent, and until the first delivery is answered with 2xx no other. */
function isHeld({ paused, firstOnly }: Endpoint): boolean {
  return paused || firstOnly?.deliveryGuid !== undefined;
}

function ownerOf(event: EventContent): string {
  return `${event.organization_guid}${event.environment}`;
}

function deliveryOf(
  event: EventContent,
  endpoint: Endpoint,
  guid: string,
  at: Date,
  batch: DeliveryBatch | undefined,
): Delivery {
  return {
    guid,
    subscriptionGuid: endpoint.guid,
    organizationGuid: event.organization_guid,
    environment: event.environment,
    eventGuid: event.guid,
    bankGuid: event.bank_guid,
    eventType: event.event_type,
    objectGuid: event.object_guid,
    attemptCount: 0,
    createdAt: at,
    isEarly: false,
    batch,
  };
}
