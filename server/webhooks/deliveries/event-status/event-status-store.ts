import { type RawBuilder, sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { MAX_COUNTED } from '../../../infrastructure/database/paging/paging.ts';
import { type DeliveryFilters, matching, ofAny, visibleTo } from '../conditions-store.ts';
import { sourcesOf } from '../sources-store.ts';
import type { Moments } from '../state.ts';
import type { Owned } from '../store.ts';

type Sql = RawBuilder<unknown>;

/** Redeliveries of one event that are read; the newest count. */
const MAX_DELIVERIES_OF_EVENT = 200;

/** `createdAtLt` is compared with the event: a redelivery may be much later. */
export type EventStatusFilters = Pick<
  DeliveryFilters,
  'state' | 'eventType' | 'bankGuid' | 'createdAtGte' | 'createdAtLt'
>;
/** A delivery in index order, and whether its event is listed at this place. */
export type Candidate = { guid: string; event_guid: string; matches: boolean };

/**
 * The next `limit` deliveries that meet the filters, newest first. An event is listed once, at the newest delivery that
 * meets them. With a state, superseded ones do not: once delivered, an event counts as delivered to that subscription.
 */
export async function selectCandidates(
  transaction: Transaction,
  { visible, subscriptionGuids }: Owned,
  filters: EventStatusFilters,
  { limit, before, now }: { limit: number; before: string | undefined; now: Date },
): Promise<Candidate[]> {
  const { state, createdAtGte: from, createdAtLt: until } = filters;
  const counts = (delivery: string) => (state ? sql`not (${superseded(delivery)})` : sql`true`);
  const newer = sql`
    select from deliveries as other
    where other.event_guid = d.event_guid and other.guid > d.guid and ${ofAny(subscriptionGuids)}
      and ${matching({}, state, now)} and ${counts('other')}`;
  const inTime = sql`
    select from events as e
    where e.guid = d.event_guid and ${from ? sql`e.created_at >= ${from}` : sql`true`}
      and ${until ? sql`e.created_at < ${until}` : sql`true`}`;
  const { rows } = await sql<Candidate>`
    select d.guid, d.event_guid, ${counts('d')} and not exists (${newer})
      and ${from || until ? sql`exists (${inTime})` : sql`true`} as matches
    from (${merged(subscriptionGuids, filters, { limit, before, now })}) as d
    where ${visibleTo(visible)}
    order by d.guid desc limit ${limit}`.execute(transaction);
  return rows;
}

/** Of the newest deliveries that meet the filters; superseded ones are included, so this is an upper bound. */
export async function countCandidates(
  transaction: Transaction,
  { visible, subscriptionGuids }: Owned,
  filters: EventStatusFilters,
  now: Date,
): Promise<number> {
  const all = merged(subscriptionGuids, filters, { limit: MAX_COUNTED, before: undefined, now });
  const { rows } = await sql<{ total: number }>`
    select count(distinct event_guid)::int as total from (
      select d.event_guid from (${all}) as d where ${visibleTo(visible)} limit ${MAX_COUNTED}
    ) as listed`.execute(transaction);
  return rows[0]?.total ?? 0;
}

export type StatusRow = Moments & { event_guid: string; subscription_guid: string; guid: string };

/** The deliveries of a page of events, newest first. */
export async function selectDeliveriesOfEvents(
  queries: Queries,
  { visible, subscriptionGuids }: Owned,
  eventGuids: readonly string[],
  lowestGuid: string,
): Promise<StatusRow[]> {
  const { rows } = await sql<StatusRow>`
    select own.* from unnest(${uuidArray(eventGuids)}) as e(event_guid) cross join lateral (
      select event_guid, subscription_guid, guid, completed_at, failed_at, failing_since from deliveries as d
      where ${visibleTo(visible)} and ${ofAny(subscriptionGuids)} and d.event_guid = e.event_guid
        and guid >= ${lowestGuid}
      order by guid desc limit ${MAX_DELIVERIES_OF_EVENT}
    ) as own`.execute(queries);
  return rows;
}

function merged(
  subscriptionGuids: readonly string[],
  { createdAtLt: _, ...filters }: EventStatusFilters,
  { limit, before, now }: { limit: number; before: string | undefined; now: Date },
): Sql {
  return sql.join(
    sourcesOf(subscriptionGuids, filters, now).map((source) => sql`(${source(limit, before)})`),
    sql` union all `,
  );
}

/** The same event reached the subscription, or a newer delivery took over. */
function superseded(delivery: string): Sql {
  const column = (name: string) => sql.ref(`${delivery}.${name}`);
  return sql`${column('completed_at')} is null and exists (
    select from deliveries as n
    where n.event_guid = ${column('event_guid')} and n.subscription_guid = ${column('subscription_guid')}
      and (n.guid > ${column('guid')} or n.completed_at is not null))`;
}
