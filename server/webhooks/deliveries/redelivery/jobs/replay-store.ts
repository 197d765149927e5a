import { sql } from 'kysely';
import { uuidArray } from '../../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../../infrastructure/database/database.ts';
import { guidsOfWindow } from '../../guid-window.ts';

export type EarlierDeliveries = { event_guid: string; is_waiting: boolean };

/**
 * Which of these events have deliveries to the subscription, and whether one of them is unfinished. `offset 0` keeps the
 * planner on the index of events.
 */
export async function selectEarlierDeliveries(
  transaction: Transaction,
  subscriptionGuid: string,
  { eventGuids, since }: { eventGuids: readonly string[]; since: Date },
): Promise<EarlierDeliveries[]> {
  // A delivery is not created before its event.
  const { from } = guidsOfWindow(since, undefined);
  const { rows } = await sql<EarlierDeliveries>`
    select e.guid as event_guid, bool_or(d.completed_at is null and d.failed_at is null) as is_waiting
    from unnest(${uuidArray(eventGuids)}) as e(guid) cross join lateral (
      select * from deliveries where event_guid = e.guid and guid >= ${from} offset 0
    ) as d
    where d.subscription_guid = ${subscriptionGuid}
    group by e.guid`.execute(transaction);
  return rows;
}
