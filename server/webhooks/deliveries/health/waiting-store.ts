import { sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';

export type WaitingRow = {
  subscriptionGuid: string;
  /** At most `limit`. */
  waiting: number;
  /** Of these, created before `lateBefore`. */
  late: number;
  oldestGuid: string | null;
};

/**
 * Unfinished deliveries per subscription: queue rows, leased or not, and deliveries of a batch without an attempt (after
 * a failed one they have a queue row). One statement, so that a delivery that moves between the two counts once. Both
 * tables are read by index, at most `limit` entries of each for a subscription.
 */
export async function selectWaitingOf(
  transaction: Transaction,
  subscriptionGuids: readonly string[],
  { limit, lateBefore }: { limit: number; lateBefore: string },
): Promise<WaitingRow[]> {
  const { rows } = await sql<WaitingRow>`
    select s.guid as "subscriptionGuid", least(queued.waiting + batched.waiting, ${limit})::int as waiting,
           least(queued.late + batched.late, ${limit})::int as late,
           least(first_queued.guid, batched.oldest) as "oldestGuid"
    from unnest(${uuidArray(subscriptionGuids)}) as s(guid)
    cross join lateral (
      select count(*) as waiting, count(*) filter (where delivery_guid < ${lateBefore}) as late
      from (
        select delivery_guid from delivery_queue where subscription_guid = s.guid
        order by subscription_guid, delivery_guid limit ${limit}
      ) as counted
    ) as queued
    left join lateral (
      select delivery_guid as guid from delivery_queue where subscription_guid = s.guid
      order by subscription_guid, delivery_guid limit 1
    ) as first_queued on true
    cross join lateral (
      select count(*) as waiting, count(*) filter (where guid < ${lateBefore}) as late,
             min(guid::text)::uuid as oldest
      from (
        select d.guid from delivery_batches as b cross join lateral unnest(b.delivery_guids) as own(guid)
        join deliveries as d on d.subscription_guid = s.guid and d.guid = own.guid
        where b.subscription_guid = s.guid
          and d.attempt_count = 0 and d.completed_at is null and d.failed_at is null
        limit ${limit}
      ) as counted
    ) as batched`.execute(transaction);
  return rows;
}
