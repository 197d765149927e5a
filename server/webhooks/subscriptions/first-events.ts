import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Event, Events } from '../events/service.ts';
import * as store from './endpoint-store.ts';
import type { Endpoint } from './endpoints.ts';
import { eventOf } from './records.ts';
import type { SubscriptionRow } from './state.ts';

export type FirstEvents = ReturnType<typeof createFirstEvents>;

/** The queue of deliveries. */
export type FirstQueue = {
  /** Creates the deliveries of the event to all subscriptions. */
  enqueue(
    transaction: Transaction,
    events: readonly Event[],
  ): Promise<readonly { guid: string; subscriptionGuid: string }[]>;
  /** Enqueues the first event of each endpoint; returns the deliveries by subscription. */
  enqueueFirst(
    transaction: Transaction,
    firsts: readonly (readonly [Endpoint, Event])[],
  ): Promise<ReadonlyMap<string, string>>;
  /** Those of the inactive endpoints that have no first event in the queue. */
  withoutFirst(transaction: Transaction, endpoints: readonly Endpoint[]): Promise<Endpoint[]>;
};

type Deps = {
  database: Database;
  events: Events;
  organizations: Organizations;
  firstQueue: FirstQueue;
  endpointsOf(transaction: Transaction, organizationGuids: readonly string[]): Promise<Endpoint[]>;
};

/**
 * The first event of an endpoint is a `subscription.storing` of its own, never a waiting event: a URL that has not
 * answered yet learns nothing about the partner.
 */
export function createFirstEvents({ database, events, organizations, firstQueue, endpointsOf }: Deps) {
  /** Of locked subscriptions; those that do not deliver get none. */
  async function enqueueFor(
    transaction: Transaction,
    rows: readonly SubscriptionRow[],
  ): Promise<ReadonlyMap<string, string>> {
    const owners = new Set(rows.map((row) => row.organization_guid));
    const rowOf = new Map(rows.map((row) => [row.guid, row]));
    const endpoints = (await endpointsOf(transaction, [...owners])).filter(
      ({ guid, delivers, firstOnly }) => delivers && firstOnly && rowOf.has(guid),
    );
    const starting = endpoints.length > 0 ? await firstQueue.withoutFirst(transaction, endpoints) : [];
    if (starting.length === 0) return new Map();
    const recorded = await events.recordAll(
      transaction,
      starting.map(({ guid }) => eventOf('subscription.storing', rowOf.get(guid) as SubscriptionRow)),
    );
    const firsts = await firstQueue.enqueueFirst(
      transaction,
      starting.map((endpoint, index) => [endpoint, recorded[index] as Event]),
    );
    await store.updateFirstDeliveries(transaction, firsts);
    return firsts;
  }

  return {
    /** Publishes the creation to all subscriptions of the Organization; for the new one it is the first event. */
    async publishCreation(transaction: Transaction, row: SubscriptionRow): Promise<void> {
      const event = await events.record(transaction, eventOf('subscription.storing', row));
      const deliveries = await firstQueue.enqueue(transaction, [event]);
      const first = deliveries.find(({ subscriptionGuid }) => subscriptionGuid === row.guid);
      if (!first) throw new Error('the first delivery was not created');
      await store.updateFirstDeliveries(transaction, new Map([[row.guid, first.guid]]));
    },

    /** After a change of a subscription that may leave an inactive endpoint without a first event. */
    async enqueueMissing(transaction: Transaction, row: SubscriptionRow): Promise<void> {
      if (row.activated_at === null) await enqueueFor(transaction, [row]);
    },

    /**
     * Enqueues new first events for endpoints whose first delivery has ended without a 2xx. Returns the deliveries by
     * subscription; subscriptions that another node changes now are left for the next poll.
     */
    async renewFirst(endpoints: readonly Endpoint[], now: Date): Promise<ReadonlyMap<string, string>> {
      if (endpoints.length === 0) return new Map();
      return database.transaction(async (transaction) => {
        const guids = endpoints.map(({ guid }) => guid);
        const rows = await store.lockInactive(transaction, guids, now);
        const moving = new Set<string>();
        for (const guid of new Set(rows.map((row) => row.organization_guid)))
          if (await organizations.checkFrozen(guid, transaction)) moving.add(guid);
        return enqueueFor(
          transaction,
          rows.filter((row) => !moving.has(row.organization_guid)),
        );
      });
    },
  };
}
