import { type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import {
  completePage,
  MAX_COUNTED,
  type Page,
  type PageOf,
  selectPage,
} from '../../infrastructure/database/paging/paging.ts';
import { distinct, type Narrowing } from '../../infrastructure/database/paging/value-paging.ts';
import type { Visible } from '../visible.ts';
import { guidsOfWindow } from './guid-window.ts';
import {
  type DeliveryState,
  FIRST_STATE,
  STATE_RULES,
  type StateRule,
  type StoredAttempt,
  type StoredDelivery,
} from './state.ts';

/** Reads deliveries for the API. The dispatcher uses `queue-store.ts` and `record-store.ts`. */

/** Indexes begin with the subscription, so queries name every subscription that a delivery can belong to. */
export type Owned = { visible: Visible; subscriptionGuids: readonly string[] };

export type DeliveryFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly DeliveryState[] | undefined;
  eventType?: readonly string[] | undefined;
  eventGuid?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

type Sql = RawBuilder<unknown>;

const WAITING: readonly DeliveryState[] = ['storing', 'failing'];

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
  const sources = sourcesOf(subscriptionGuids, filters, now);
  const merged = (limit: number, before?: string) => sql`
    select * from (${sql.join(
      sources.map((source) => sql`(${source(limit, before)})`),
      sql` union all `,
    )}) as d
    where ${visibleTo(visible)}`;
  const { rows: found } = await sql<StoredDelivery>`
    select d.*, ${DUE_AT} from (${merged(offset + perPage + 1, after)}) as d
    order by guid desc limit ${perPage + 1} offset ${offset}`.execute(transaction);
  return completePage(
    transaction,
    { found, page, key: 'guid' },
    sql`${merged(MAX_COUNTED)} limit ${MAX_COUNTED}`,
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

/** Selects the newest `limit` deliveries before a guid. */
type Source = (limit: number, before: string | undefined) => Sql;

function sourcesOf(subscriptionGuids: readonly string[], filters: DeliveryFilters, now: Date): Source[] {
  const { state: states } = filters;
  const owned = sql`${uuidArray(subscriptionGuids)}`;
  const narrowed = narrowest(filters);
  if (!states) return [recorded(owned, narrowed, matching(filters, undefined, now))];
  const sources: Source[] = [];
  const waiting = states.filter((state) => WAITING.includes(state));
  if (waiting.length > 0) {
    const isWanted = matching(filters, waiting, now);
    sources.push(queued(owned, isWanted), batched(owned, isWanted));
  }
  for (const state of ['completed', 'failed'] as const)
    if (states.includes(state)) sources.push(recorded(owned, narrowed, matching(filters, [state], now)));
  return sources;
}

/** The filter that an index supports besides the subscription. */
function narrowest({ eventType, bankGuid }: DeliveryFilters): Narrowing | undefined {
  if (eventType) return { column: sql`event_type`, values: textArray(distinct(eventType)) };
  return bankGuid ? { column: sql`bank_guid`, values: uuidArray(distinct(bankGuid)) } : undefined;
}

function recorded(owned: Sql, narrowed: Narrowing | undefined, isWanted: Sql): Source {
  if (!narrowed)
    return (limit, before) => sql`
      select own.* from unnest(${owned}) as s(guid) cross join lateral (
        select * from deliveries
        where subscription_guid = s.guid and ${isWanted} and ${isBefore('guid', before)}
        order by guid desc limit ${limit}
      ) as own`;
  // A range of one value, as in `value-paging.ts`, makes the planner use the index on the column.
  const { column, values } = narrowed;
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join unnest(${values}) as v(value) cross join lateral (
      select * from deliveries
      where subscription_guid = s.guid and ${column} >= v.value and ${column} <= v.value
        and ${isWanted} and ${isBefore('guid', before)}
      order by ${column} desc, guid desc limit ${limit}
    ) as own`;
}

/** The `limit 1` of each look-up keeps the planner from scanning the history. */
function queued(owned: Sql, isWanted: Sql): Source {
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join lateral (
      select record.* from delivery_queue as q cross join lateral (
        select * from deliveries
        where subscription_guid = q.subscription_guid and guid = q.delivery_guid and ${isWanted} limit 1
      ) as record
      where q.subscription_guid = s.guid and ${isBefore('q.delivery_guid', before)}
      order by q.delivery_guid desc limit ${limit}
    ) as own`;
}

/** Batched deliveries without an attempt; after a failed attempt they have a queue row. */
function batched(owned: Sql, isWanted: Sql): Source {
  return (limit, before) => sql`
    select record.* from unnest(${owned}) as s(guid)
    join delivery_batches as b on b.subscription_guid = s.guid
    cross join lateral unnest(b.delivery_guids) as q(delivery_guid) cross join lateral (
      select * from deliveries
      where subscription_guid = b.subscription_guid and guid = q.delivery_guid and attempt_count = 0
        and ${isWanted} limit 1
    ) as record
    where ${isBefore('q.delivery_guid', before)}
    order by q.delivery_guid desc limit ${limit}`;
}

function matching(
  filters: DeliveryFilters,
  states: readonly DeliveryState[] | undefined,
  now: Date,
): RawBuilder<boolean> {
  const { from, to } = guidsOfWindow(filters.createdAtGte, filters.createdAtLt);
  const conditions = [sql`true`];
  if (filters.guid) conditions.push(sql`guid = any(${uuidArray(filters.guid)})`);
  if (filters.eventGuid) conditions.push(sql`event_guid = any(${uuidArray(filters.eventGuid)})`);
  if (filters.eventType) conditions.push(sql`event_type = any(${filters.eventType}::text[])`);
  if (filters.bankGuid) conditions.push(sql`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  // The guid range prunes partitions; `created_at` is the exact filter.
  if (from) conditions.push(sql`guid >= ${from} and created_at >= ${filters.createdAtGte}`);
  if (to) conditions.push(sql`guid < ${to} and created_at < ${filters.createdAtLt}`);
  if (filters.subscriptionGuid)
    conditions.push(sql`subscription_guid = any(${uuidArray(filters.subscriptionGuid)})`);
  if (filters.environment) conditions.push(sql`environment = any(${filters.environment}::text[])`);
  if (states) conditions.push(anyState(states, now));
  return sql`${sql.join(conditions, sql` and `)}`;
}

function visibleTo({ organizationGuid, environment }: Visible): RawBuilder<boolean> {
  const own = sql<boolean>`organization_guid = ${organizationGuid}`;
  return environment === undefined ? own : sql<boolean>`${own} and environment = ${environment}`;
}

function ofAny(subscriptionGuids: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`subscription_guid = any(${uuidArray(subscriptionGuids)})`;
}

function isBefore(column: string, guid: string | undefined): Sql {
  return guid === undefined ? sql`true` : sql`${sql.ref(column)} < ${guid}`;
}

/** `stateOf` in SQL, written so that partial indexes match. */
function anyState(states: readonly DeliveryState[], now: Date): Sql {
  return sql`(${sql.join(
    states.map((state) => inState(state, now)),
    sql` or `,
  )})`;
}

function inState(state: DeliveryState, now: Date): Sql {
  const index =
    state === FIRST_STATE ? STATE_RULES.length : STATE_RULES.findIndex((rule) => rule.state === state);
  const conditions = STATE_RULES.slice(0, index).map((rule) => applies(rule, now, false));
  const own = STATE_RULES[index];
  return sql`(${sql.join(own ? [...conditions, applies(own, now, true)] : conditions, sql` and `)})`;
}

function applies({ moment, agoMs }: StateRule, now: Date, expected: boolean): Sql {
  const column = sql.ref(moment);
  if (agoMs === undefined) return expected ? sql`${column} is not null` : sql`${column} is null`;
  const latest = new Date(now.getTime() - agoMs);
  return expected ? sql`${column} <= ${latest}` : sql`(${column} is null or ${column} > ${latest})`;
}
