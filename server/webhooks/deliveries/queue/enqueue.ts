import type { Database, Ending, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Event } from '../../events/service.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery, DeliveryBatch } from '../delivery.ts';
import type { Dispatcher } from '../sending/dispatcher.ts';
import { insertDeliveries } from './queue-store.ts';

/** From so many on that one endpoint gets at once, a row for all of them costs less than a place in the queue for each. */
const MIN_BATCH_SIZE = 16;

/** What a delivery is made of: the event, whenever it happened. */
export type EventContent = Omit<Event, 'created_at'>;

export type Enqueue = ReturnType<typeof createEnqueue>;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  subscriptions: Subscriptions;
  dispatcher: Dispatcher;
};

/**
 * Deliveries are made in the transaction of their event. As many as this process's dispatcher has room for are
 * inserted as its own and handed over after the commit; the others wait for whoever claims them.
 */
export function createEnqueue({ database, clock, guids, subscriptions, dispatcher }: Deps) {
  async function deliver(
    transaction: Transaction,
    work: readonly (readonly [Endpoint, readonly EventContent[]])[],
  ): Promise<Delivery[]> {
    const at = clock.now();
    const holder = dispatcher.holder();
    const batches = work
      .filter(([, events]) => events.length > 0)
      .map(([endpoint, events]) => {
        const mayTake = holder && endpoint.delivers && !endpoint.firstOnly;
        const taken = mayTake ? dispatcher.reserve(endpoint, events.length) : 0;
        const batch = taken < MIN_BATCH_SIZE ? undefined : { guid: guids.next(), left: taken };
        const deliveries = events.map((event, index) =>
          deliveryOf(event, endpoint, guids.next(), at, index < taken ? batch : undefined),
        );
        return { endpoint, deliveries, taken, batch, failed: endpoint.disabled };
      });
    if (batches.length === 0) return [];
    database.onEnd(transaction, (ending) => {
      for (const { endpoint, deliveries, taken } of batches)
        handOver(ending, endpoint, deliveries.slice(0, taken));
      const left = batches.filter(
        ({ endpoint, deliveries, taken }) =>
          endpoint.delivers && !waitsForFirst(endpoint) && taken < deliveries.length,
      );
      if (ending !== 'rolled back') dispatcher.announce(left.map(({ endpoint }) => endpoint));
    });
    await insertDeliveries(transaction, batches, { holder: holder ?? null, at });
    return batches.flatMap(({ deliveries }) => deliveries);
  }

  function handOver(ending: Ending, endpoint: Endpoint, deliveries: readonly Delivery[]): void {
    if (deliveries.length === 0) return;
    if (ending === 'committed') {
      dispatcher.accept(endpoint, deliveries);
      return;
    }
    dispatcher.unreserve(endpoint, deliveries.length);
    // They may be there after all, in our name, and nobody would send them.
    if (ending === 'unknown') dispatcher.release(deliveries);
  }

  return {
    /** To everyone who gets these events now. */
    async enqueue(transaction: Transaction, events: readonly EventContent[]): Promise<void> {
      const byOwner = Map.groupBy(events, ownerOf);
      const organizations = [...new Set(events.map((event) => event.organization_guid))];
      const endpoints = await subscriptions.endpointsOf(transaction, organizations);
      await deliver(
        transaction,
        endpoints.map((endpoint) => [
          endpoint,
          byOwner.get(`${endpoint.organizationGuid}${endpoint.environment}`) ?? [],
        ]),
      );
    },

    /** Once more to one of them. */
    enqueueFor: (transaction: Transaction, endpoint: Endpoint, events: readonly EventContent[]) =>
      deliver(transaction, [[endpoint, events]]),
  };
}

/** Nothing new can be sent: the first delivery of the endpoint has not been answered with 2xx. */
function waitsForFirst({ firstOnly }: Endpoint): boolean {
  return firstOnly?.deliveryGuid !== undefined;
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
