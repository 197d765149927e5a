import { type RawBuilder, sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery } from '../delivery.ts';

/** Deliveries that have no place in the queue of their own, because their maker sends them at once, many together. */

export const ofHolders = (holders: readonly string[]) => sql<boolean>`leased_by = any(${uuidArray(holders)})`;
export const ofNobody = sql<boolean>`leased_by not in (select guid from dispatchers)`;
export const named = (guids: readonly string[]) => sql<boolean>`guid = any(${uuidArray(guids)})`;
export const madeBefore = (holder: string, moment: Date) =>
  sql<boolean>`leased_by = ${holder} and created_at < ${moment}`;

/** Locks those that are still there, in guid order and before any row of the queue (docs/contributors/architecture.md, Locks). */
export async function holdConsignments(
  transaction: Transaction,
  which: RawBuilder<boolean>,
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    select guid from delivery_consignments where ${which} order by guid for update`.execute(transaction);
  return rows.map(({ guid }) => guid);
}

export async function deleteConsignments(queries: Queries, guids: readonly string[]): Promise<void> {
  await sql`delete from delivery_consignments where ${named(guids)}`.execute(queries);
}

/**
 * Gives whatever of them is not written down a place in the queue: leased by `holder` where it is held, free to be
 * claimed where it is not. Gives how many these are. Statement by statement: only one that begins after the
 * consignments are held sees what was written down before.
 */
export async function dissolveConsignments(
  transaction: Transaction,
  which: RawBuilder<boolean>,
  { holder = null, held = [] }: { holder?: string | null; held?: readonly string[] } = {},
): Promise<number> {
  return requeueConsigned(transaction, await holdConsignments(transaction, which), { holder, held });
}

/** The same for consignments that this transaction has locked. */
export async function requeueConsigned(
  transaction: Transaction,
  guids: readonly string[],
  { holder = null, held = [] }: { holder?: string | null; held?: readonly string[] } = {},
): Promise<number> {
  if (guids.length === 0) return 0;
  const { numAffectedRows } = await sql`
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at, leased_by)
    select d.subscription_guid, d.guid, d.created_at, d.created_at,
           case when d.guid = any(${uuidArray(held)}) then ${holder}::uuid end
    from delivery_consignments as c cross join lateral unnest(c.delivery_guids) as own(guid)
    join deliveries as d on d.subscription_guid = c.subscription_guid and d.guid = own.guid
    where c.guid = any(${uuidArray(guids)}) and d.completed_at is null and d.failed_at is null
    on conflict do nothing`.execute(transaction);
  await deleteConsignments(transaction, guids);
  return Number(numAffectedRows ?? 0);
}

/**
 * Places in the queue for some of them, in the name of their holder: they have failed, and will be tried again. Only
 * for those without an attempt: one with an attempt has its place already, or had it and has ended.
 */
export async function enqueueConsigned(
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
