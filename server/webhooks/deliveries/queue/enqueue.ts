import type { Database, Ending, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Event } from '../../events/service.ts';
import type { Receiver, Subscriptions } from '../../subscriptions/service.ts';
import type { Consignment, Delivery } from '../delivery.ts';
import type { Dispatcher } from '../sending/dispatcher.ts';
import { insertDeliveries } from './queue-store.ts';

/** From so many on that one endpoint gets at once, a row for all of them costs less than a place in the queue for each. */
const MIN_CONSIGNED = 16;

/** What a delivery is made of: the event, whenever it happened. */
export type Announced = Omit<Event, 'created_at'>;

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
    work: readonly (readonly [Receiver, readonly Announced[]])[],
  ): Promise<Delivery[]> {
    const at = clock.now();
    const holder = dispatcher.holder();
    const batches = work
      .filter(([, events]) => events.length > 0)
      .map(([receiver, events]) => {
        const mayTake = holder && receiver.delivers && !receiver.firstOnly;
        const taken = mayTake ? dispatcher.reserve(receiver, events.length) : 0;
        const consignment = taken < MIN_CONSIGNED ? undefined : { guid: guids.next(), left: taken };
        const deliveries = events.map((event, index) =>
          deliveryOf(event, receiver, guids.next(), at, index < taken ? consignment : undefined),
        );
        return { receiver, deliveries, taken, consignment, failed: receiver.disabled };
      });
    if (batches.length === 0) return [];
    database.onEnd(transaction, (ending) => {
      for (const { receiver, deliveries, taken } of batches)
        handOver(ending, receiver, deliveries.slice(0, taken));
      const left = batches.filter(
        ({ receiver, deliveries, taken }) =>
          receiver.delivers && !waitsForFirst(receiver) && taken < deliveries.length,
      );
      if (ending !== 'rolled back') dispatcher.announce(left.map(({ receiver }) => receiver));
    });
    await insertDeliveries(transaction, batches, { holder: holder ?? null, at });
    return batches.flatMap(({ deliveries }) => deliveries);
  }

  function handOver(ending: Ending, receiver: Receiver, deliveries: readonly Delivery[]): void {
    if (deliveries.length === 0) return;
    if (ending === 'committed') {
      dispatcher.accept(receiver, deliveries);
      return;
    }
    dispatcher.unreserve(receiver, deliveries.length);
    // They may be there after all, in our name, and nobody would send them.
    if (ending === 'unknown') dispatcher.release(deliveries);
  }

  return {
    /** To everyone who gets these events now. */
    async enqueue(transaction: Transaction, events: readonly Announced[]): Promise<void> {
      const byOwner = Map.groupBy(events, ownerOf);
      const organizations = [...new Set(events.map((event) => event.organization_guid))];
      const receivers = await subscriptions.receiversOf(transaction, organizations);
      await deliver(
        transaction,
        receivers.map((receiver) => [
          receiver,
          byOwner.get(`${receiver.organizationGuid}${receiver.environment}`) ?? [],
        ]),
      );
    },

    /** Once more to one of them. */
    enqueueFor: (transaction: Transaction, receiver: Receiver, events: readonly Announced[]) =>
      deliver(transaction, [[receiver, events]]),
  };
}

/** Nothing new can be sent: the first delivery of the endpoint has not been answered with 2xx. */
function waitsForFirst({ firstOnly }: Receiver): boolean {
  return firstOnly?.deliveryGuid !== undefined;
}

function ownerOf(event: Announced): string {
  return `${event.organization_guid}${event.environment}`;
}

function deliveryOf(
  event: Announced,
  receiver: Receiver,
  guid: string,
  at: Date,
  consignment: Consignment | undefined,
): Delivery {
  return {
    guid,
    subscriptionGuid: receiver.guid,
    organizationGuid: event.organization_guid,
    environment: event.environment,
    eventGuid: event.guid,
    bankGuid: event.bank_guid,
    eventType: event.event_type,
    objectGuid: event.object_guid,
    attemptCount: 0,
    createdAt: at,
    isEarly: false,
    consignment,
  };
}
