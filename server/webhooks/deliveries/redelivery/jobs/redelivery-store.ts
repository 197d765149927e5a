import { type Insertable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../../../infrastructure/database/database.ts';
import { type Page, type PageOf, selectPage } from '../../../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Row, Tables } from '../../../../infrastructure/database/tables.ts';
import { firstGuidAt } from '../../../../infrastructure/runtime/guid.ts';
import type { Visible } from '../../../visible.ts';
import { guidsOfWindow } from '../../guid-window.ts';
import type { EventContent } from '../../queue/enqueue.ts';
import { forceIndexOrder } from '../../store.ts';

export type Redelivery = Row<'subscription_recoveries'>;

export type RedeliveryFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly RedeliveryState[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

export const REDELIVERY_STATES = ['running', 'completed', 'failed'] as const;
export type RedeliveryState = (typeof REDELIVERY_STATES)[number];

const FIRST_GUID = '0'.repeat(32);

export async function insertRedelivery(
  transaction: Transaction,
  redelivery: Insertable<Tables['subscription_recoveries']>,
): Promise<void> {
  await transaction.insertInto('subscription_recoveries').values(redelivery).execute();
}

/** Counts running redeliveries up to `limit`. The lock serializes their creation per subscription. */
export async function countRunning(
  transaction: Transaction,
  subscriptionGuid: string,
  limit: number,
): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${subscriptionGuid}, 0))`.execute(transaction);
  const running = transaction
    .selectFrom('subscription_recoveries')
    .select('guid')
    .where('subscription_guid', '=', subscriptionGuid)
    .where('completed_at', 'is', null)
    .where('failed_at', 'is', null)
    .limit(limit);
  const { count } = await transaction
    .selectFrom(running.as('running'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export function selectRedelivery(
  queries: Queries,
  visible: Visible,
  guid: string,
): Promise<Redelivery | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

export function selectRedeliveries(
  queries: Queries,
  visible: Visible,
  page: Page,
  filters: RedeliveryFilters,
): Promise<PageOf<Redelivery>> {
  let query = visibleTo(queries, visible);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.state)
    query = query.where(
      sql<string>`case when completed_at is not null then 'completed' when failed_at is not null then 'failed'
        else 'running' end`,
      'in',
      filters.state,
    );
  if (filters.subscriptionGuid) query = query.where('subscription_guid', 'in', filters.subscriptionGuid);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  return selectPage(queries, query, page);
}

function visibleTo(queries: Queries, { organizationGuid, environment }: Visible) {
  const query = queries
    .selectFrom('subscription_recoveries')
    .selectAll()
    .where('organization_guid', '=', organizationGuid);
  return environment === undefined ? query : query.where('environment', '=', environment);
}

type Window = Pick<Redelivery, 'subscription_guid' | 'since' | 'until'>;

/** From the partial index alone, so by the time in the guids; for any number of them. */
export async function countFailed(
  transaction: Transaction,
  { subscription_guid, since, until }: Window,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('subscription_guid', '=', subscription_guid)
    .where('failed_at', 'is not', null)
    .where('guid', '>=', firstGuidAt(since))
    .where('guid', '<', firstGuidAt(until))
    .executeTakeFirstOrThrow();
  return count;
}

export type RunningRedelivery = Pick<Redelivery, 'guid' | 'subscription_guid'> & { waiting: number };

/**
 * The next running redelivery after a guid, and the deliveries waiting for its subscription, counted up to `maxWaiting`.
 * Of each subscription only the oldest runs, because the next one has to see its deliveries.
 */
export async function selectRunning(
  queries: Queries,
  after: string | undefined,
  maxWaiting: number,
): Promise<RunningRedelivery | undefined> {
  const { rows } = await sql<RunningRedelivery>`
    select guid, subscription_guid, (
      select count(*) from (
        select 1 from delivery_queue as q where q.subscription_guid = r.subscription_guid limit ${maxWaiting}
      ) as counted
    ) as waiting
    from subscription_recoveries as r
    where completed_at is null and failed_at is null and guid > ${after ?? FIRST_GUID}
      and not exists (
        select 1 from subscription_recoveries as older
        where older.completed_at is null and older.failed_at is null and older.guid < r.guid
          and older.subscription_guid = r.subscription_guid)
    order by guid limit 1`.execute(queries);
  return rows[0];
}

/** Undefined when another node has locked it or it has ended. */
export function lockRunning(transaction: Transaction, guid: string): Promise<Redelivery | undefined> {
  return transaction
    .selectFrom('subscription_recoveries')
    .selectAll()
    .where('guid', '=', guid)
    .where('completed_at', 'is', null)
    .where('failed_at', 'is', null)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

export type FailedDelivery = {
  guid: string;
  event: EventContent;
  /** A newer delivery of the event exists that has not failed, or that this redelivery includes. */
  superseded: boolean;
};

type FailedRow = Omit<EventContent, 'guid'> & { guid: string; event_guid: string; superseded: boolean };

/** The next failed deliveries of a redelivery, in guid order. */
export async function selectFailed(
  transaction: Transaction,
  redelivery: Redelivery,
  limit: number,
): Promise<FailedDelivery[]> {
  await forceIndexOrder(transaction);
  const { since, until, created_at: at } = redelivery;
  const { from, to } = guidsOfWindow(since, until);
  const { rows } = await sql<FailedRow>`
    select d.guid, event_guid, organization_guid, bank_guid, event_type, object_guid, environment,
           newer.guid is not null as superseded
    from (
      select * from deliveries
      where subscription_guid = ${redelivery.subscription_guid} and failed_at is not null
        and guid > ${redelivery.reached ?? FIRST_GUID} and guid >= ${from} and guid < ${to}
        and created_at >= ${since} and created_at < ${until} and failed_at <= ${at}
      order by guid limit ${limit}
    ) as d
    left join lateral (
      select n.guid from deliveries as n
      where n.event_guid = d.event_guid and n.subscription_guid = d.subscription_guid and n.guid > d.guid
        and (n.failed_at is null
          or n.failed_at <= ${at} and n.created_at >= ${since} and n.created_at < ${until})
      limit 1
    ) as newer on true
    order by d.guid`.execute(transaction);
  return rows.map(({ guid, event_guid, superseded, ...event }) => ({
    guid,
    superseded,
    event: { ...event, guid: event_guid },
  }));
}

export async function updateRedelivery(
  transaction: Transaction,
  guid: string,
  changes: Updateable<Tables['subscription_recoveries']>,
): Promise<void> {
  await transaction.updateTable('subscription_recoveries').set(changes).where('guid', '=', guid).execute();
}

/** Returns the number of deleted redeliveries. */
export async function deleteEnded(queries: Queries, before: Date, limit: number): Promise<number> {
  const ended = queries
    .selectFrom('subscription_recoveries')
    .select('guid')
    .where('guid', '<', firstGuidAt(before))
    .where(({ or, eb }) => or([eb('completed_at', '<', before), eb('failed_at', '<', before)]))
    .orderBy('guid')
    .limit(limit);
  const { numDeletedRows } = await queries
    .deleteFrom('subscription_recoveries')
    .where('guid', 'in', ended)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
