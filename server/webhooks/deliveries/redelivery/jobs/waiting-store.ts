import { sql } from 'kysely';
import { uuidArray } from '../../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../../infrastructure/database/database.ts';
import { NIL_GUID } from '../../../../infrastructure/runtime/guid.ts';
import { guidsOfWindow } from '../../guid-window.ts';
import type { Redelivery, Window } from './redelivery-store.ts';

/** Deliveries of a window that wait for their next attempt. */

/** By the time in the guids; for any number of them. */
export async function countWaiting(
  transaction: Transaction,
  { subscription_guid, since, until }: Window,
): Promise<number> {
  const { from, to } = guidsOfWindow(since, until);
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from delivery_queue
    where subscription_guid = ${subscription_guid} and delivery_guid >= ${from} and delivery_guid < ${to}`.execute(
    transaction,
  );
  return rows[0]?.total ?? 0;
}

/** `due` and `paused` deliveries are among the waiting ones; the others would be sent earlier. */
export type WaitingCounts = { waiting: number; due: number; paused: number };

/** Exact among the first `limit`. */
export async function countWaitingUpTo(
  queries: Queries,
  window: Window,
  { now, limit }: { now: Date; limit: number },
): Promise<WaitingCounts> {
  const { rows } = await sql<WaitingCounts>`
    select count(*)::int as waiting, count(*) filter (where is_due)::int as due,
           count(*) filter (where is_paused and not is_due)::int as paused
    from (
      select *, due_at <= ${now} or leased_by is not null as is_due
      from (${recordsOf(window, NIL_GUID, { now, limit })}) as record
      where created_at >= ${window.since} and created_at < ${window.until}
    ) as waiting`.execute(queries);
  return rows[0] ?? { waiting: 0, due: 0, paused: 0 };
}

export type WaitingDelivery = { guid: string; is_in_window: boolean; is_paused: boolean };

/** The next deliveries of a redelivery, in guid order. */
export async function selectWaiting(
  transaction: Transaction,
  redelivery: Redelivery,
  { now, limit }: { now: Date; limit: number },
): Promise<WaitingDelivery[]> {
  const { rows } = await sql<WaitingDelivery>`
    select delivery_guid as guid, is_paused,
           coalesce(created_at >= ${redelivery.since} and created_at < ${redelivery.until}, false) as is_in_window
    from (${recordsOf(redelivery, redelivery.reached ?? NIL_GUID, { now, limit })}) as waiting
    order by delivery_guid`.execute(transaction);
  return rows;
}

/** Returns the number of deliveries that were not due before. Those being sent are locked or leased, and skipped. */
export async function makeDue(
  transaction: Transaction,
  subscriptionGuid: string,
  guids: readonly string[],
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    with free as materialized (
      select ctid as row_id from delivery_queue
      where subscription_guid = ${subscriptionGuid} and delivery_guid = any(${uuidArray(guids)})
        and leased_by is null and due_at > ${now}
      order by delivery_guid
      for update skip locked
    )
    update delivery_queue set due_at = ${now}
    where ctid = any(array(select row_id from free))`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}

/**
 * `is_paused`: the endpoint asked for the pause with a Retry-After. Failed early retries are excluded from others too
 * (`earlyAfter`), but only these statuses have a Retry-After that counts.
 */
function recordsOf(
  { subscription_guid, since, until }: Window,
  after: string,
  { now, limit }: { now: Date; limit: number },
) {
  const { from, to } = guidsOfWindow(since, until);
  return sql`
    select q.delivery_guid, q.due_at, q.leased_by, d.created_at,
           q.scheduled_at > ${now} and coalesce(d.response_status in (429, 503), false) as is_paused
    from (
      select * from delivery_queue
      where subscription_guid = ${subscription_guid} and delivery_guid > ${after}
        and delivery_guid >= ${from} and delivery_guid < ${to}
      order by delivery_guid limit ${limit}
    ) as q left join lateral (
      select created_at, response_status from deliveries
      where subscription_guid = q.subscription_guid and guid = q.delivery_guid limit 1
    ) as d on true`;
}
