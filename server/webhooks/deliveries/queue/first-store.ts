import { sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries } from '../../../infrastructure/database/database.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Delivery } from '../delivery.ts';
import { leasedDeliveries, withRecord } from './queue-store.ts';

/**
 * Deliveries to endpoints that have not answered 2xx yet. Each statement finds its rows by key, so the backlog of such
 * an endpoint costs nothing.
 */

export type FirstDelivery = { subscriptionGuid: string; deliveryGuid: string };

/**
 * The subscriptions among these whose first delivery has ended, was never chosen, or is of another event: nodes of
 * earlier versions chose the longest due delivery.
 */
export async function selectWithoutFirst(
  queries: Queries,
  subscriptions: readonly { subscriptionGuid: string; deliveryGuid: string | undefined }[],
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    /* prepared: select_without_first */
    select s.guid
    from unnest(${uuidArray(subscriptions.map(({ subscriptionGuid }) => subscriptionGuid))},
                ${uuidArray(subscriptions.map(({ deliveryGuid }) => deliveryGuid ?? null))})
      as s(guid, first_delivery_guid)
    where (
      select d.event_type = 'subscription.storing' and d.object_guid = s.guid
      from delivery_queue as q join deliveries as d
        on d.subscription_guid = q.subscription_guid and d.guid = q.delivery_guid
      where q.subscription_guid = s.guid and q.delivery_guid = s.first_delivery_guid
    ) is not true`.execute(queries);
  return rows.map(({ guid }) => guid);
}

/** Leases the first deliveries that are due and free to `holder`. */
export async function claimFirst(
  queries: Queries,
  { firsts, holder, now }: { firsts: readonly FirstDelivery[]; holder: string; now: Date },
): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    /* prepared: claim_first */
    with due as materialized (
      select queued.row_id
      from unnest(${uuidArray(firsts.map(({ subscriptionGuid }) => subscriptionGuid))},
                  ${uuidArray(firsts.map(({ deliveryGuid }) => deliveryGuid))}) as f(subscription_guid, guid)
      cross join lateral (
        select q.ctid as row_id from delivery_queue as q
        where q.subscription_guid = f.subscription_guid and q.delivery_guid = f.guid
          -- Without the condition of the other index, which keeps the planner on the primary key.
          and coalesce(q.leased_by, ${NIL_GUID}) = ${NIL_GUID} and q.due_at <= ${now}
        for update skip locked
      ) as queued
    ), leased as (
      update delivery_queue set leased_by = ${holder}
      where ctid = any(array(select row_id from due))
      returning subscription_guid, delivery_guid, due_at
    )
    ${leasedDeliveries(now)}`.execute(queries);
  return withRecord(queries, rows);
}

/** Moves the next attempt to now, except during a Retry-After. */
export async function makeFirstDue(
  queries: Queries,
  { subscriptionGuid, deliveryGuid }: FirstDelivery,
  now: Date,
): Promise<void> {
  await sql`
    update delivery_queue set due_at = ${now}
    where (subscription_guid, delivery_guid) in (
      select subscription_guid, delivery_guid from delivery_queue
      where subscription_guid = ${subscriptionGuid} and delivery_guid = ${deliveryGuid}
        and leased_by is null and due_at > ${now} and scheduled_at <= ${now}
      for update skip locked)`.execute(queries);
}

/**
 * Makes deliveries due at once that a Retry-After or a failed early retry holds back, among the `limit` retries that are due
 * last: no index tells them from the others. Skips locked rows: their recorder waits for the subscription.
 */
export async function endHolds(
  queries: Queries,
  subscriptionGuid: string,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  await sql`
    with retry as materialized (
      select ctid as row_id, scheduled_at from delivery_queue
      where subscription_guid = ${subscriptionGuid} and leased_by is null and due_at > ${now}
      order by due_at desc limit ${limit}
    ), held as materialized (
      select ctid as row_id from delivery_queue
      where ctid = any(array(select row_id from retry where scheduled_at >= ${now}))
        and leased_by is null and scheduled_at >= ${now}
      for update skip locked
    )
    update delivery_queue set due_at = ${now}, scheduled_at = ${now}
    where ctid = any(array(select row_id from held))`.execute(queries);
}
