import { type RawBuilder, sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery } from '../delivery.ts';

/** Delivery batches: deliveries without queue rows of their own, sent by the process that created them. */

export const leasedByAny = (holders: readonly string[]) =>
  sql<boolean>`leased_by = any(${uuidArray(holders)})`;
export const ofDeadDispatchers = sql<boolean>`leased_by not in (select guid from dispatchers)`;
export const named = (guids: readonly string[]) => sql<boolean>`guid = any(${uuidArray(guids)})`;
export const createdBefore = (holder: string, moment: Date) =>
  sql<boolean>`leased_by = ${holder} and created_at < ${moment}`;

/** Locks the batches in guid order, before any row of the queue, so that transactions cannot deadlock. */
export async function lockBatches(transaction: Transaction, which: RawBuilder<boolean>): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    select guid from delivery_batches where ${which} order by guid for update`.execute(transaction);
  return rows.map(({ guid }) => guid);
}

export async function deleteBatches(transaction: Transaction, guids: readonly string[]): Promise<void> {
  await sql`/* prepared: delete_batches, pipelined */
    delete from delivery_batches where ${named(guids)}`.execute(transaction);
}

type Held = { holder?: string | null; held?: readonly string[] };

/**
 * Inserts queue rows for the unfinished deliveries of the batches: leased by `holder` if they are in `held`, otherwise
 * free to be claimed. Returns their number. The lock is a statement of its own, so that the next one sees outcomes
 * recorded before it.
 */
export async function requeueBatches(
  transaction: Transaction,
  which: RawBuilder<boolean>,
  held?: Held,
): Promise<number> {
  return requeueLockedBatches(transaction, await lockBatches(transaction, which), held);
}

export async function requeueLockedBatches(
  transaction: Transaction,
  guids: readonly string[],
  { holder = null, held = [] }: Held = {},
): Promise<number> {
  if (guids.length === 0) return 0;
  const { numAffectedRows } = await sql`
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at, leased_by)
    select d.subscription_guid, d.guid, d.created_at, d.created_at,
           case when d.guid = any(${uuidArray(held)}) then ${holder}::uuid end
    from delivery_batches as b cross join lateral unnest(b.delivery_guids) as own(guid)
    join deliveries as d on d.subscription_guid = b.subscription_guid and d.guid = own.guid
    where b.guid = any(${uuidArray(guids)}) and d.completed_at is null and d.failed_at is null
    on conflict do nothing`.execute(transaction);
  await deleteBatches(transaction, guids);
  return Number(numAffectedRows ?? 0);
}

/**
 * Inserts queue rows for failed deliveries of a batch, leased by `holder`. A delivery that already has an attempt is
 * skipped: it has its queue row, or has ended.
 */
export async function enqueueBatched(
  transaction: Transaction,
  holder: string,
  deliveries: readonly Delivery[],
): Promise<void> {
  await sql`
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at, leased_by)
    select d.subscription_guid, d.guid, d.created_at, d.created_at, ${holder}
    from unnest(${uuidArray(deliveries.map(({ subscriptionGuid }) => subscriptionGuid))},
                ${uuidArray(deliveries.map(({ guid }) => guid))}) as o(subscription_guid, guid)
    join deliveries as d on d.subscription_guid = o.subscription_guid and d.guid = o.guid
    where d.attempt_count = 0 and d.completed_at is null and d.failed_at is null
    on conflict do nothing`.execute(transaction);
}
