import { sql } from 'kysely';
import type { Queries } from '../../../infrastructure/database/database.ts';

/**
 * Backlog for the metrics, counted up to `limit` per subscription. Deliveries that wait for the first 2xx of their
 * endpoint or the end of a pause are not late, so they do not count for `oldestDueAt`.
 */
export async function selectBacklog(
  queries: Queries,
  limit: number,
): Promise<{ waiting: number; oldestDueAt: Date | null }> {
  const { rows } = await sql<{ waiting: number; oldestDueAt: Date | null }>`
    with recursive walk as (
      select * from (
        select subscription_guid, due_at from delivery_queue where leased_by is null
        order by subscription_guid, due_at limit 1
      ) as first
      union all
      select following.* from walk cross join lateral (
        select subscription_guid, due_at from delivery_queue
        where leased_by is null and subscription_guid > walk.subscription_guid
        order by subscription_guid, due_at limit 1
      ) as following
    )
    select coalesce(sum(counted.waiting), 0)::bigint as waiting, min(walk.due_at) filter (where is_active) as "oldestDueAt"
    from walk cross join lateral (
      select count(*) as waiting from (
        select 1 from delivery_queue as q
        where q.subscription_guid = walk.subscription_guid and q.leased_by is null limit ${limit}
      ) as counted_rows
    ) as counted
    cross join lateral (
      select not exists (
        select 1 from subscriptions
        where guid = walk.subscription_guid and (activated_at is null or paused_at is not null or frozen)
      ) as is_active
    ) as endpoint`.execute(queries);
  return rows[0] ?? { waiting: 0, oldestDueAt: null };
}
