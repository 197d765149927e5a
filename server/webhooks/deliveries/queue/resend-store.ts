import { sql } from 'kysely';
import { textArray, uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery } from '../delivery.ts';

/** Records redelivered events, which event streams then repeat. */
export async function insertResends(
  transaction: Transaction,
  deliveries: readonly Delivery[],
  at: Date,
): Promise<void> {
  await sql`
    insert into event_resends (guid, organization_guid, environment, event_guid, subscription_guid, created_at)
    select new.*, ${at}::timestamptz from unnest(
      ${uuidArray(deliveries.map(({ guid }) => guid))},
      ${uuidArray(deliveries.map(({ organizationGuid }) => organizationGuid))},
      ${textArray(deliveries.map(({ environment }) => environment))},
      ${uuidArray(deliveries.map(({ eventGuid }) => eventGuid))},
      ${uuidArray(deliveries.map(({ subscriptionGuid }) => subscriptionGuid))}) as new`.execute(transaction);
}
