import { type RawBuilder, sql } from 'kysely';
import {
  booleanArray,
  intArray,
  momentArray,
  textArray,
  uuidArray,
} from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Delivery, DeliveryBatch, DeliveryRequest } from '../delivery.ts';

/** The delivery queue: due times and leases. */

/** Deliveries to one endpoint. */
export type NewDeliveries = {
  deliveries: readonly Delivery[];
  /** The first `taken` deliveries are leased to the process that creates them. */
  taken: number;
  /** Replaces the queue rows of the taken deliveries when there are many. */
  batch?: DeliveryBatch | undefined;
  /** The subscription is disabled: the deliveries are recorded as failed. */
  failed: boolean;
};

/** Inserts deliveries with their queue rows or batches, in one statement; with a `request` in another, which costs more. */
export async function insertDeliveries(
  transaction: Transaction,
  groups: readonly NewDeliveries[],
  { holder, at, request }: { holder: string | null; at: Date; request?: DeliveryRequest | undefined },
): Promise<void> {
  const endpoints = groups.map(({ deliveries: [first] }) => first as Delivery);
  const rows = groups.flatMap(({ deliveries }) => deliveries);
  const requested = request
    ? {
        name: sql`/* prepared: insert_requested_deliveries, pipelined */`,
        columns: sql`, requested_as, requested_by_type, requested_by`,
        values: sql`, ${request.as}::text, ${request.by.type}::text, ${request.by.id}::text`,
      }
    : { name: sql`/* prepared: insert_deliveries, pipelined */`, columns: sql``, values: sql`` };
  await sql`
    ${requested.name}
    with endpoint as materialized (
      select * from unnest(
        ${uuidArray(endpoints.map(({ subscriptionGuid }) => subscriptionGuid))},
        ${uuidArray(endpoints.map(({ organizationGuid }) => organizationGuid))},
        ${textArray(endpoints.map(({ environment }) => environment))},
        ${booleanArray(groups.map(({ failed }) => failed))},
        ${uuidArray(groups.map(({ batch }) => batch?.guid ?? null))})
      with ordinality as r(subscription_guid, organization_guid, environment, failed, batch_guid, number)
    ), new_delivery as materialized (
      select * from unnest(
        ${uuidArray(rows.map(({ guid }) => guid))},
        ${uuidArray(rows.map(({ eventGuid }) => eventGuid))},
        ${uuidArray(rows.map(({ bankGuid }) => bankGuid))},
        ${textArray(rows.map(({ eventType }) => eventType))},
        ${uuidArray(rows.map(({ objectGuid }) => objectGuid))},
        ${intArray(groups.flatMap(({ deliveries }, index) => deliveries.map(() => index + 1)))},
        ${booleanArray(groups.flatMap(({ deliveries, taken }) => deliveries.map((_, n) => n < taken)))})
      as n(guid, event_guid, bank_guid, event_type, object_guid, number, taken) join endpoint using (number)
    ), recorded as (
      insert into deliveries (guid, organization_guid, environment, subscription_guid, event_guid, bank_guid,
                              event_type, object_guid, attempt_count, created_at, updated_at, failed_at${requested.columns})
      select guid, organization_guid, environment, subscription_guid, event_guid, bank_guid, event_type,
             object_guid, 0, ${at}, ${at}, case when failed then ${at}::timestamptz end${requested.values}
      from new_delivery
    ), batched as (
      insert into delivery_batches (guid, subscription_guid, leased_by, delivery_guids, created_at)
      select batch_guid, subscription_guid, ${holder}, array_agg(guid), ${at} from new_delivery
      where taken and batch_guid is not null group by batch_guid, subscription_guid
    )
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at, leased_by)
    select subscription_guid, guid, ${at}, ${at}, case when taken then ${holder}::uuid end
    from new_delivery where not failed and not (taken and batch_guid is not null)`.execute(transaction);
}

export type Waiting = {
  subscriptionGuid: string;
  firstDueAt: Date;
  /** If nothing is due: when the first of the retries was scheduled that a recovery would make due. */
  firstScheduledAt: Date | null;
};

/**
 * A retry that a recovery after `scheduled_at` makes due. New deliveries are due when they are scheduled; of a retry it is
 * the end of the last attempt or of its Retry-After, or infinity. The condition of the index `delivery_queue_early`.
 */
const mayBeEarly = sql<boolean>`q.leased_by is null and q.due_at > q.scheduled_at`;

/**
 * Subscriptions with unleased deliveries, in guid order, each with its earliest due time. A loose index scan: a backlog
 * of any size costs as much as one delivery.
 */
export async function selectWaiting(
  queries: Queries,
  { after, limit, now }: { after: string; limit: number; now: Date },
): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    /* prepared: select_waiting */
    with recursive walk as (
      select * from (
        select subscription_guid, due_at, 1 as position from delivery_queue
        where leased_by is null and subscription_guid > ${after}
        order by subscription_guid, due_at limit 1
      ) as first
      union all
      select following.*, walk.position + 1 from walk cross join lateral (
        select subscription_guid, due_at from delivery_queue
        where leased_by is null and subscription_guid > walk.subscription_guid
        order by subscription_guid, due_at limit 1
      ) as following
      where walk.position < ${limit}
    )
    select subscription_guid as "subscriptionGuid", due_at as "firstDueAt", case when due_at > ${now} then (
      select q.scheduled_at from delivery_queue as q
      where q.subscription_guid = walk.subscription_guid and ${mayBeEarly}
      order by q.scheduled_at limit 1
    ) end as "firstScheduledAt"
    from walk`.execute(queries);
  return rows;
}

export type Claim = {
  subscriptionGuid: string;
  limit: number;
  /** The endpoint has recovered: deliveries scheduled before this time are due at once. */
  recoveredAt: Date | null;
};

/**
 * Leases up to `limit` due deliveries of each subscription to `holder`: the longest due first, then those that a recovery
 * makes due. Each kind has its own index, so that the claim reads no other delivery.
 */
export async function claimDeliveries(
  queries: Queries,
  { claims, holder, now }: { claims: readonly Claim[]; holder: string; now: Date },
): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    /* prepared: claim_deliveries */
    -- Arrays are subqueries and the time is a column: with bare parameters a plan for this execution looks cheaper than
    -- one for all, and PostgreSQL plans every claim.
    with claim as materialized (
      select c.*, ${now}::timestamptz as now from unnest(
        (select ${uuidArray(claims.map(({ subscriptionGuid }) => subscriptionGuid))}),
        (select ${intArray(claims.map(({ limit }) => limit))}),
        (select ${momentArray(claims.map(({ recoveredAt }) => recoveredAt))}))
      as c(subscription_guid, max_rows, recovered_at)
    ), due as materialized (
      select claim.*, array(
        select q.ctid from delivery_queue as q
        where q.subscription_guid = claim.subscription_guid and q.leased_by is null and q.due_at <= claim.now
        order by q.due_at limit claim.max_rows
        for update skip locked
      ) as row_ids from claim
    ), early as materialized (
      select queued.row_id from due cross join lateral (
        select q.ctid as row_id from delivery_queue as q
        where q.subscription_guid = due.subscription_guid and ${mayBeEarly}
          and q.scheduled_at < due.recovered_at and q.due_at > due.now
        order by q.scheduled_at limit due.max_rows - cardinality(due.row_ids)
        for update skip locked
      ) as queued
      where due.recovered_at is not null
    ), leased as (
      -- By ctid: with a join the planner reads the whole queue, because it cannot know how few rows are claimed.
      update delivery_queue set leased_by = ${holder}
      where ctid = any(array(select unnest(row_ids) from due union all select row_id from early))
      returning subscription_guid, delivery_guid, due_at
    )
    ${leasedDeliveries(now)}`.execute(queries);
  return withRecord(queries, rows);
}

/** The last part of a claim statement: its `leased` rows with their deliveries. */
export const leasedDeliveries = (now: Date) => sql`
    select leased.delivery_guid as guid, leased.subscription_guid as "subscriptionGuid", d.organization_guid as "organizationGuid",
           d.environment, d.event_guid as "eventGuid", d.bank_guid as "bankGuid", d.event_type as "eventType",
           d.object_guid as "objectGuid", d.attempt_count as "attemptCount", d.created_at as "createdAt",
           leased.due_at > ${now} as "isEarly", coalesce(d.requested_as in ('redelivery', 'test_event'), false) as "isWatched"
    from leased left join deliveries as d
      on d.subscription_guid = leased.subscription_guid and d.guid = leased.delivery_guid
    order by leased.due_at, d.guid`;

/** Deletes queue rows whose delivery is gone: no dispatcher ran for longer than the retention. */
export async function withRecord(queries: Queries, rows: Delivery[]): Promise<Delivery[]> {
  const lost = rows.filter(({ eventGuid }) => eventGuid === null);
  if (lost.length === 0) return rows;
  await deleteQueued(queries, lost);
  return rows.filter(({ eventGuid }) => eventGuid !== null);
}

async function deleteQueued(
  queries: Queries,
  rows: readonly Pick<Delivery, 'guid' | 'subscriptionGuid'>[],
): Promise<void> {
  await sql`
    delete from delivery_queue as q
    using unnest(${uuidArray(rows.map(({ subscriptionGuid }) => subscriptionGuid))},
                 ${uuidArray(rows.map(({ guid }) => guid))}) as r(subscription_guid, guid)
    where q.subscription_guid = r.subscription_guid and q.delivery_guid = r.guid`.execute(queries);
}

export async function releaseDeliveries(
  queries: Queries,
  holder: string,
  deliveries: readonly Pick<Delivery, 'guid' | 'subscriptionGuid'>[],
): Promise<void> {
  await sql`
    update delivery_queue as q set leased_by = null
    from unnest(${uuidArray(deliveries.map(({ subscriptionGuid }) => subscriptionGuid))},
                ${uuidArray(deliveries.map(({ guid }) => guid))}) as r(subscription_guid, guid)
    where q.subscription_guid = r.subscription_guid and q.delivery_guid = r.guid
      and q.leased_by = ${holder}`.execute(queries);
}

/** Skips rows that a recorder is writing: it releases them itself. By ctid, which avoids a self-join of the queue. */
export async function releaseLeased(queries: Queries, which: RawBuilder<boolean>): Promise<number> {
  const { numAffectedRows } = await sql`
    with leased as materialized (
      select ctid as row_id from delivery_queue where ${which} for update skip locked
    )
    update delivery_queue set leased_by = null
    where ctid = any(array(select row_id from leased))`.execute(queries);
  return Number(numAffectedRows ?? 0);
}

/** Releases leases of `holder` that it does not know of and that are too old to be on their way to it. */
export async function releaseUntrackedLeases(
  queries: Queries,
  holder: string,
  { held, takenBefore }: { held: readonly string[]; takenBefore: Date },
): Promise<number> {
  return releaseLeased(
    queries,
    sql<boolean>`leased_by = ${holder} and least(due_at, scheduled_at) < ${takenBefore}
      and delivery_guid <> all(${uuidArray(held)})`,
  );
}

const LAST_GUID = 'f'.repeat(32);

/** Waiting deliveries of a subscription between two guids. */
export type WaitingRange = { provided: RawBuilder<boolean>; after?: string; before?: string };

export type FailedBatch = {
  failed: number;
  /** The last delivery of a full batch: the next one begins after it, without reading the deleted rows again. */
  reached: string | undefined;
};

/**
 * Fails up to `limit` waiting deliveries of a subscription between two guids, in their order. The snapshot that contains
 * an event of a subscription that was enabled or resumed also contains that change, so `provided` keeps such an event.
 */
export async function failWaiting(
  queries: Queries,
  subscriptionGuid: string,
  { at, limit, provided, after = NIL_GUID, before = LAST_GUID }: WaitingRange & { at: Date; limit: number },
): Promise<FailedBatch> {
  const { rows } = await sql<{ failed: number; ended: number; last: string | null }>`
    with over as (
      delete from delivery_queue as q using (
        select subscription_guid, delivery_guid from delivery_queue
        where subscription_guid = ${subscriptionGuid} and delivery_guid > ${after} and delivery_guid < ${before}
          and leased_by is null and ${provided}
        order by delivery_guid limit ${limit} for update skip locked
      ) as o
      where q.subscription_guid = o.subscription_guid and q.delivery_guid = o.delivery_guid
      returning q.subscription_guid, q.delivery_guid
    ), failed as (
      update deliveries as d set failed_at = ${at}, updated_at = ${at} from over
      where d.subscription_guid = over.subscription_guid and d.guid = over.delivery_guid
      returning 1
    )
    select (select count(*) from failed) as failed, count(*) as ended,
           max(delivery_guid::text)::uuid as last from over`.execute(queries);
  const { failed = 0, ended = 0, last = null } = rows[0] ?? {};
  return { failed, reached: ended === limit && last !== null ? last : undefined };
}
