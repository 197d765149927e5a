import { sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries } from '../../../infrastructure/database/database.ts';
import type { Delivery } from '../delivery.ts';
import { leasedDeliveries, withRecord } from './queue-store.ts';

/**
 * Deliveries to endpoints that have not answered 2xx yet. Each statement finds its rows by key, so the backlog of such
 * an endpoint costs nothing.
 */

export type FirstDelivery = { subscriptionGuid: string; deliveryGuid: string };

/** The longest due delivery of each subscription whose first delivery has ended or was never chosen. */
export async function selectNextFirst(
  queries: Queries,
  subscriptions: readonly { subscriptionGuid: string; deliveryGuid: string | undefined }[],
  now: Date,
): Promise<FirstDelivery[]> {
  const { rows } = await sql<FirstDelivery>`
    /* prepared: select_next_first */
    select s.guid as "subscriptionGuid", next.delivery_guid as "deliveryGuid"
    from unnest(${uuidArray(subscriptions.map(({ subscriptionGuid }) => subscriptionGuid))},
                ${uuidArray(subscriptions.map(({ deliveryGuid }) => deliveryGuid ?? null))})
      as s(guid, first_delivery_guid)
    cross join lateral (
      select delivery_guid from delivery_queue
      where subscription_guid = s.guid and leased_by is null and due_at <= ${now}
      order by due_at, delivery_guid limit 1
    ) as next
    where not exists (
      select 1 from delivery_queue as q
      where q.subscription_guid = s.guid and q.delivery_guid = s.first_delivery_guid
    )`.execute(queries);
  return rows;
}

/** Stands for `null` in a comparison that keeps the planner on the primary key. */
const NIL_GUID = '0'.repeat(32);

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

/** Moves the next attempt to now, unless the endpoint sent a Retry-After. */
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
        and leased_by is null and due_at > ${now} and scheduled_at < 'infinity'
      for update skip locked)`.execute(queries);
}

/**
 * Makes deliveries due at once that a Retry-After or a failed early retry holds back, up to `limit`. Skips locked rows:
 * their recorder waits for the subscription.
 */
export async function endHolds(
  queries: Queries,
  subscriptionGuid: string,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  await sql`
    with held as materialized (
      select ctid as row_id from delivery_queue
      where subscription_guid = ${subscriptionGuid} and leased_by is null and due_at > ${now}
        and scheduled_at = 'infinity'
      limit ${limit} for update skip locked
    )
    update delivery_queue set due_at = ${now}, scheduled_at = ${now}
    where ctid = any(array(select row_id from held))`.execute(queries);
}
