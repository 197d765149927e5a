import { type Insertable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../../../infrastructure/database/database.ts';
import { notFrozen } from '../../../../infrastructure/database/not-frozen.ts';
import { type Page, type PageOf, selectPage } from '../../../../infrastructure/database/paging/paging.ts';
import type {
  EnvironmentName,
  RedeliveryKind,
  Row,
  Tables,
} from '../../../../infrastructure/database/tables.ts';
import { firstGuidAt, NIL_GUID } from '../../../../infrastructure/runtime/guid.ts';
import type { Visible } from '../../../visible.ts';

export type Redelivery = Row<'subscription_recoveries'>;

export type RedeliveryFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly RedeliveryState[] | undefined;
  kind?: readonly RedeliveryKind[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

export const REDELIVERY_STATES = ['running', 'completed', 'failed', 'cancelled'] as const;
export const REDELIVERY_KINDS = ['failed', 'waiting', 'all'] as const satisfies RedeliveryKind[];
export type RedeliveryState = (typeof REDELIVERY_STATES)[number];

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
      sql<string>`case when cancelled_at is not null then 'cancelled' when completed_at is not null then 'completed'
        when failed_at is not null then 'failed' else 'running' end`,
      'in',
      filters.state,
    );
  if (filters.kind) query = query.where('kind', 'in', filters.kind);
  if (filters.subscriptionGuid) query = query.where('subscription_guid', 'in', filters.subscriptionGuid);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  return selectPage(queries, query, page);
}

export function stateOf(redelivery: Redelivery): RedeliveryState {
  if (redelivery.cancelled_at !== null) return 'cancelled';
  if (redelivery.completed_at !== null) return 'completed';
  return redelivery.failed_at === null ? 'running' : 'failed';
}

function visibleTo(queries: Queries, { organizationGuid, environment }: Visible) {
  const query = queries
    .selectFrom('subscription_recoveries')
    .selectAll()
    .where('organization_guid', '=', organizationGuid);
  return environment === undefined ? query : query.where('environment', '=', environment);
}

export type Window = Pick<Redelivery, 'subscription_guid' | 'since' | 'until'>;

export type RunningRedelivery = Pick<Redelivery, 'guid' | 'kind' | 'subscription_guid'> & { waiting: number };

/**
 * The next running redelivery after a guid, and the deliveries waiting for its subscription, counted up to `maxWaiting`.
 * A redelivery of waiting deliveries adds none: it counts due deliveries that are not sent yet. Of each subscription only
 * the oldest runs, because the next one has to see its deliveries.
 */
export async function selectRunning(
  queries: Queries,
  after: string | undefined,
  { maxWaiting, now }: { maxWaiting: number; now: Date },
): Promise<RunningRedelivery | undefined> {
  const { rows } = await sql<RunningRedelivery>`
    select guid, kind, subscription_guid, case kind when 'waiting' then (
      select count(*) from (
        select 1 from delivery_queue as q
        where q.subscription_guid = r.subscription_guid and q.leased_by is null and q.due_at <= ${now}
        limit ${maxWaiting}
      ) as counted
    ) else (
      select count(*) from (
        select 1 from delivery_queue as q where q.subscription_guid = r.subscription_guid limit ${maxWaiting}
      ) as counted
    ) end as waiting
    from subscription_recoveries as r
    where completed_at is null and failed_at is null and guid > ${after ?? NIL_GUID}
      and ${notFrozen('r.organization_guid')}
      and not exists (
        select 1 from subscription_recoveries as older
        where older.completed_at is null and older.failed_at is null and older.guid < r.guid
          and older.subscription_guid = r.subscription_guid)
    order by guid limit 1`.execute(queries);
  return rows[0];
}

/** Undefined when another node has locked it, it has ended or its Organization is frozen. */
export function lockRunning(transaction: Transaction, guid: string): Promise<Redelivery | undefined> {
  return transaction
    .selectFrom('subscription_recoveries')
    .selectAll()
    .where('guid', '=', guid)
    .where('completed_at', 'is', null)
    .where('failed_at', 'is', null)
    .where(notFrozen('subscription_recoveries.organization_guid'))
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** Waits for a running step of at most one batch. */
export function lockRedelivery(
  transaction: Transaction,
  visible: Visible,
  guid: string,
): Promise<Redelivery | undefined> {
  return visibleTo(transaction, visible).where('guid', '=', guid).forUpdate().executeTakeFirst();
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
