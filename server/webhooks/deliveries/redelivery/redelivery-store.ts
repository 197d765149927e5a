import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { type Page, type PageOf, selectPage } from '../../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Tables } from '../../../infrastructure/database/tables.ts';
import { firstGuidAt } from '../../../infrastructure/runtime/guid.ts';
import { guidsOfWindow } from '../guid-window.ts';
import type { Announced } from '../queue/enqueue.ts';
import { keepToIndexOrder, type Visible } from '../store.ts';

export type Recovery = Selectable<Tables['subscription_recoveries']>;

export type RecoveryFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly RecoveryState[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

export const RECOVERY_STATES = ['running', 'completed', 'failed'] as const;
export type RecoveryState = (typeof RECOVERY_STATES)[number];

/** The lowest guid that there can be. */
const FIRST_GUID = '0'.repeat(32);

export async function insertRecovery(
  transaction: Transaction,
  recovery: Insertable<Tables['subscription_recoveries']>,
): Promise<void> {
  await transaction.insertInto('subscription_recoveries').values(recovery).execute();
}

/** Those of a subscription that have not ended, counted up to `limit`. Of one subscription they are made in turn. */
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

export function selectRecovery(
  queries: Queries,
  visible: Visible,
  guid: string,
): Promise<Recovery | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

export function selectRecoveries(
  queries: Queries,
  visible: Visible,
  page: Page,
  filters: RecoveryFilters,
): Promise<PageOf<Recovery>> {
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

type Window = Pick<Recovery, 'subscription_guid' | 'since' | 'until'>;

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
    .where('guid', '>=', firstGuidAt(new Date(Math.max(0, since.getTime()))))
    .where('guid', '<', firstGuidAt(until))
    .executeTakeFirstOrThrow();
  return count;
}

export type RunningRecovery = Pick<Recovery, 'guid' | 'subscription_guid'> & { waiting: number };

/**
 * The next one after a guid that is to be gone on with: of each subscription the oldest, for the next one has to see
 * what that one has sent again. With what already waits for the subscription, counted up to `maxWaiting`.
 */
export async function selectRunning(
  queries: Queries,
  after: string | undefined,
  maxWaiting: number,
): Promise<RunningRecovery | undefined> {
  const { rows } = await sql<RunningRecovery>`
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

/** Undefined when another node is at it, or it has ended. */
export function lockRunning(transaction: Transaction, guid: string): Promise<Recovery | undefined> {
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
  event: Announced;
  /** Something newer of the same event is there: on its way, delivered, or this recovery's to send. */
  superseded: boolean;
};

type FailedRow = Omit<Announced, 'guid'> & { guid: string; event_guid: string; superseded: boolean };

/** What a recovery deals with next, in the order of the guids. Each look at newer ones goes by the event's index. */
export async function selectFailed(
  transaction: Transaction,
  recovery: Recovery,
  limit: number,
): Promise<FailedDelivery[]> {
  await keepToIndexOrder(transaction);
  const { since, until, created_at: at } = recovery;
  const { from, to } = guidsOfWindow(since, until);
  const { rows } = await sql<FailedRow>`
    select d.guid, event_guid, organization_guid, bank_guid, event_type, object_guid, environment,
           newer.guid is not null as superseded
    from (
      select * from deliveries
      where subscription_guid = ${recovery.subscription_guid} and failed_at is not null
        and guid > ${recovery.reached ?? FIRST_GUID} and guid >= ${from} and guid < ${to}
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

export async function updateRecovery(
  transaction: Transaction,
  guid: string,
  changes: Updateable<Tables['subscription_recoveries']>,
): Promise<void> {
  await transaction.updateTable('subscription_recoveries').set(changes).where('guid', '=', guid).execute();
}

/** Up to `limit` that ended before that moment; gives how many. */
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
