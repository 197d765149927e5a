import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import {
  completePage,
  MAX_COUNTED,
  type Page,
  type PageOf,
  selectPage,
} from '../../infrastructure/database/paging/paging.ts';
import type { Visible } from '../visible.ts';
import { type DeliveryFilters, matching, ofAny, visibleTo } from './conditions-store.ts';
import { completionSourcesOf, type Source, sourcesOf } from './sources-store.ts';
import type { StoredAttempt, StoredDelivery } from './state.ts';

export type { DeliveryFilters } from './conditions-store.ts';

/** Reads deliveries for the API. The dispatcher uses `queue-store.ts` and `record-store.ts`. */

/** Indexes begin with the subscription, so queries name every subscription that a delivery can belong to. */
export type Owned = { visible: Visible; subscriptionGuids: readonly string[] };

/** An unfinished delivery without a queue row is in a batch and being sent. */
const DUE_AT = sql<Date | null>`coalesce(
  (select due_at from delivery_queue as q
   where q.subscription_guid = d.subscription_guid and q.delivery_guid = d.guid),
  case when d.completed_at is null and d.failed_at is null then d.created_at end)`.as('due_at');

export async function selectDelivery(
  queries: Queries,
  { visible, subscriptionGuids }: Owned,
  guid: string,
): Promise<StoredDelivery | undefined> {
  const { rows } = await sql<StoredDelivery>`
    select d.*, ${DUE_AT} from deliveries as d
    where ${visibleTo(visible)} and ${ofAny(subscriptionGuids)} and guid = ${guid}`.execute(queries);
  return rows[0];
}

/** The newest `limit` attempts, oldest first. */
export async function selectAttempts(
  queries: Queries,
  deliveryGuid: string,
  limit: number,
): Promise<StoredAttempt[]> {
  const newest = await queries
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_guid', '=', deliveryGuid)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return newest.reverse();
}

/** Deliveries filtered by guid or event: few, and found by index. */
export function selectNamed(
  queries: Queries,
  { visible, subscriptionGuids }: Owned,
  page: Page,
  filters: DeliveryFilters,
  now: Date,
): Promise<PageOf<StoredDelivery>> {
  const query = queries
    .selectFrom('deliveries as d')
    .selectAll()
    .select(DUE_AT)
    .where(visibleTo(visible))
    .where(ofAny(subscriptionGuids))
    .where(matching(filters, filters.state, now));
  return selectPage(queries, query, page);
}

/**
 * A page merged from several sources. Each is read in index order and no further than the page reaches, so the cost
 * does not depend on the size of the history.
 */
export async function selectDeliveries(
  transaction: Transaction,
  { visible, subscriptionGuids }: Owned,
  page: Page,
  filters: DeliveryFilters,
  now: Date,
): Promise<PageOf<StoredDelivery>> {
  const { perPage, offset, after } = page;
  await forceIndexOrder(transaction);
  const { sources, counted } =
    filters.completedAtGte || filters.completedAtLt
      ? await completionSourcesOf(transaction, subscriptionGuids, filters, now)
      : { sources: sourcesOf(subscriptionGuids, filters, now), counted: undefined };
  if (sources.length === 0) return { rows: [], total: 0, next: undefined };
  const merged = (from: readonly Source[], limit: number, before?: string) => sql`
    select * from (${sql.join(
      from.map((source) => sql`(${source(limit, before)})`),
      sql` union all `,
    )}) as d
    where ${visibleTo(visible)}`;
  const { rows: found } = await sql<StoredDelivery>`
    select d.*, ${DUE_AT} from (${merged(sources, offset + perPage + 1, after)}) as d
    order by guid desc limit ${perPage + 1} offset ${offset}`.execute(transaction);
  return completePage(
    transaction,
    { found, page, key: 'guid' },
    sql`${merged(counted ?? sources, MAX_COUNTED)} limit ${MAX_COUNTED}`,
  );
}

/**
 * The planner assumes an average subscription and would read and sort all deliveries of a large one. Before PostgreSQL
 * 18 a disabled plan node has a high cost, which would trigger `jit`.
 */
export async function forceIndexOrder(transaction: Transaction): Promise<void> {
  await sql`
    select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
           set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`.execute(transaction);
}
