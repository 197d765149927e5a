import { type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { distinct } from '../../infrastructure/database/paging/value-paging.ts';
import { type DeliveryFilters, isBefore, matching } from './conditions-store.ts';
import { guidsOfWindow } from './guid-window.ts';
import { type DeliveryState, FAILING_AFTER_MS } from './state.ts';

type Sql = RawBuilder<unknown>;

const WAITING: readonly DeliveryState[] = ['storing', 'failing'];

/** Selects the newest `limit` deliveries before a guid. */
export type Source = (limit: number, before: string | undefined) => Sql;

export function sourcesOf(
  subscriptionGuids: readonly string[],
  filters: DeliveryFilters,
  now: Date,
): Source[] {
  const { state: states } = filters;
  const owned = uuidArray(subscriptionGuids);
  const narrowed = narrowest(filters);
  if (!states) return [recorded(owned, narrowed, matching(filters, undefined, now))];
  const sources: Source[] = [];
  const waiting = states.filter((state) => WAITING.includes(state));
  const isWaiting = matching(filters, waiting, now);
  const mayMatch = waiting.includes('failing') ? sql`true` : mayBeStoring(now);
  if (waiting.includes('storing'))
    sources.push(queued(owned, isWaiting, mayMatch), batched(owned, isWaiting));
  else if (waiting.length > 0) sources.push(failing(owned, isWaiting));
  for (const state of ['completed', 'failed'] as const)
    if (states.includes(state)) sources.push(recorded(owned, narrowed, matching(filters, [state], now)));
  return sources;
}

/** Late completions in a time window that are sorted for a page. */
const MAX_SORTED_COMPLETIONS = 2_000;
/** A completion is at most five minutes after `created_at`, or else late. After a failed attempt it counts as late, too. */
const MAX_PROMPT_MS = 5 * 60_000;

/**
 * Completions in a time window: late ones are read by their index and sorted, the others by the time in their guids. If
 * the former are many, all are read in the order of their guids: then a page soon has enough of them.
 */
export async function completionSourcesOf(
  transaction: Transaction,
  subscriptionGuids: readonly string[],
  filters: DeliveryFilters,
  now: Date,
): Promise<{ sources: Source[]; counted: Source[] }> {
  if (filters.state && !filters.state.includes('completed')) return { sources: [], counted: [] };
  const { completedAtGte: from, completedAtLt: until } = filters;
  const owned = uuidArray(subscriptionGuids);
  const narrowed = narrowest(filters);
  const isWanted = matching(filters, ['completed'], now);
  const lowest = from && guidsOfWindow(new Date(from.getTime() - MAX_PROMPT_MS), undefined).from;
  const isPrompt = sql`late_completed_at is null and ${lowest ? sql`guid >= ${lowest}` : sql`true`}`;
  const inRange = sql.join(
    [
      sql`late_completed_at is not null`,
      ...(from ? [sql`late_completed_at >= ${from}`] : []),
      ...(until ? [sql`late_completed_at < ${until}`] : []),
    ],
    sql` and `,
  );
  const prompt = recorded(owned, narrowed, sql`${isWanted} and ${isPrompt}`);
  const counted = [prompt, late(owned, inRange, isWanted)];
  const limit = MAX_SORTED_COMPLETIONS + 1;
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (${late(owned, inRange, sql`true`)(limit, undefined)} limit ${limit}) as late`.execute(
    transaction,
  );
  const isMany = (rows[0]?.total ?? 0) === limit;
  const sources = isMany
    ? [recorded(owned, narrowed, isWanted)]
    : [prompt, sorted(late(owned, inRange, isWanted), MAX_SORTED_COMPLETIONS)];
  return { sources, counted };
}

/** In the order of their completion. */
function late(owned: Sql, inRange: Sql, isWanted: Sql): Source {
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join lateral (
      select * from deliveries
      where subscription_guid = s.guid and ${inRange} and ${isWanted} and ${isBefore('guid', before)}
      order by late_completed_at desc limit ${limit}
    ) as own`;
}

function sorted(source: Source, all: number): Source {
  return (limit, before) => sql`
    select * from (${source(all, before)}) as late order by guid desc limit ${limit}`;
}

/** A filter with an index of the hashes of subscription and value (migration 0072). */
type HashedFilter = { hashOf(subscription: Sql, value: Sql): Sql; column: Sql; values: Sql };

function narrowest({ eventType, bankGuid }: DeliveryFilters): HashedFilter | undefined {
  if (eventType) return hashed('hashtextextended', 'event_type', textArray(distinct(eventType)));
  return bankGuid && hashed('uuid_hash_extended', 'bank_guid', uuidArray(distinct(bankGuid)));
}

function hashed(
  hash: 'hashtextextended' | 'uuid_hash_extended',
  column: 'event_type' | 'bank_guid',
  values: Sql,
): HashedFilter {
  const hashOf = (subscription: Sql, value: Sql) =>
    sql`uuid_hash_extended(${subscription}, ${sql.raw(hash)}(${value}, 0))`;
  return { hashOf, column: sql.ref(column), values };
}

function recorded(owned: Sql, narrowed: HashedFilter | undefined, isWanted: Sql): Source {
  if (!narrowed)
    return (limit, before) => sql`
      select own.* from unnest(${owned}) as s(guid) cross join lateral (
        select * from deliveries
        where subscription_guid = s.guid and ${isWanted} and ${isBefore('guid', before)}
        order by guid desc limit ${limit}
      ) as own`;
  // A range of one value, as in `value-paging.ts`, makes the planner use the index of the hashes.
  const { hashOf, column, values } = narrowed;
  const hash = hashOf(sql`subscription_guid`, column);
  const wanted = hashOf(sql`s.guid`, sql`v.value`);
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join unnest(${values}) as v(value) cross join lateral (
      select * from deliveries
      where ${hash} >= ${wanted} and ${hash} <= ${wanted} and subscription_guid = s.guid and ${column} = v.value
        and ${isWanted} and ${isBefore('guid', before)}
      order by ${hash} desc, guid desc limit ${limit}
    ) as own`;
}

/**
 * By the index of failing deliveries (migration 0075), from the oldest in the queue on: the index also has deliveries that
 * nodes of an earlier version completed soon after a failure.
 */
function failing(owned: Sql, isWanted: Sql): Source {
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join lateral (
      select delivery_guid as guid from delivery_queue
      where subscription_guid = s.guid order by delivery_guid limit 1
    ) as oldest cross join lateral (
      select * from deliveries
      where subscription_guid = s.guid and guid >= oldest.guid
        and failing_since is not null and late_completed_at is null and failed_at is null
        and ${isWanted} and ${isBefore('guid', before)}
      order by guid desc limit ${limit}
    ) as own`;
}

/**
 * Of queue rows: a new delivery is due when it is scheduled, and a retry later than that. Without this condition a list of
 * the few new deliveries of a failing endpoint would look up the records of all that wait for a retry.
 */
function mayBeStoring(now: Date): Sql {
  return sql`(q.due_at <= q.scheduled_at or q.scheduled_at > ${new Date(now.getTime() - FAILING_AFTER_MS)})`;
}

/** The `limit 1` of each look-up keeps the planner from scanning the history. `mayMatch` is a condition of queue rows. */
function queued(owned: Sql, isWanted: Sql, mayMatch: Sql): Source {
  return (limit, before) => sql`
    select own.* from unnest(${owned}) as s(guid) cross join lateral (
      select record.* from delivery_queue as q cross join lateral (
        select * from deliveries
        where subscription_guid = q.subscription_guid and guid = q.delivery_guid and ${isWanted} limit 1
      ) as record
      where q.subscription_guid = s.guid and ${mayMatch} and ${isBefore('q.delivery_guid', before)}
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
