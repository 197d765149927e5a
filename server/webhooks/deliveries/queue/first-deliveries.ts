import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import { selectNextFirst } from './first-store.ts';

/** An endpoint that has not answered 2xx yet, with its first delivery. */
export type FirstEndpoint = Endpoint & { firstOnly: { deliveryGuid: string } };

/**
 * Chooses the first delivery of each endpoint that has none, or whose last one failed. The choice is stored with the
 * subscription, so that all dispatchers send the same one.
 */
export async function withFirstDelivery(
  { database, subscriptions, now }: { database: Database; subscriptions: Subscriptions; now: Date },
  endpoints: readonly Endpoint[],
): Promise<FirstEndpoint[]> {
  if (endpoints.length === 0) return [];
  const before = new Map(endpoints.map(({ guid, firstOnly }) => [guid, firstOnly?.deliveryGuid]));
  const known = [...before].map(([subscriptionGuid, deliveryGuid]) => ({ subscriptionGuid, deliveryGuid }));
  const next = await database.transaction(async (transaction) => {
    await preferIndexes(transaction);
    return selectNextFirst(transaction, known, now);
  });
  const chosen = await subscriptions.chooseFirst(
    next.map(({ subscriptionGuid: guid, deliveryGuid: first }) => ({
      guid,
      before: before.get(guid),
      first,
    })),
  );
  const firsts = new Map([...before, ...chosen.map(({ guid, first }) => [guid, first] as const)]);
  return endpoints.flatMap((endpoint) => {
    const deliveryGuid = firsts.get(endpoint.guid);
    return deliveryGuid === undefined ? [] : { ...endpoint, firstOnly: { deliveryGuid } };
  });
}
