import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import { selectWithoutFirst } from './first-store.ts';

/** An endpoint that has not answered 2xx yet, with its first delivery. */
export type FirstEndpoint = Endpoint & { firstOnly: { deliveryGuid: string } };

/** Those of the inactive endpoints that have no first event in the queue. */
export async function withoutFirst(
  transaction: Transaction,
  endpoints: readonly Endpoint[],
): Promise<Endpoint[]> {
  await preferIndexes(transaction);
  const guids = await selectWithoutFirst(
    transaction,
    endpoints.map(({ guid, firstOnly }) => ({
      subscriptionGuid: guid,
      deliveryGuid: firstOnly?.deliveryGuid,
    })),
  );
  const found = new Set(guids);
  return endpoints.filter(({ guid }) => found.has(guid));
}

/**
 * Adds the first delivery of each inactive endpoint. An endpoint without one gets a new first event: its other deliveries
 * would wait for ever, and none of them may be the first.
 */
export async function withFirstDelivery(
  { database, subscriptions, now }: { database: Database; subscriptions: Subscriptions; now: Date },
  endpoints: readonly Endpoint[],
): Promise<FirstEndpoint[]> {
  if (endpoints.length === 0) return [];
  const without = await database.transaction((transaction) => withoutFirst(transaction, endpoints));
  const renewed = await subscriptions.renewFirst(without, now);
  const hasNone = new Set(without.map(({ guid }) => guid));
  return endpoints.flatMap((endpoint) => {
    const { guid, firstOnly } = endpoint;
    const deliveryGuid = hasNone.has(guid) ? renewed.get(guid) : firstOnly?.deliveryGuid;
    return deliveryGuid === undefined ? [] : { ...endpoint, firstOnly: { deliveryGuid } };
  });
}
