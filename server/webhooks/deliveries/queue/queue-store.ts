import { type RawBuilder, sql } from 'kysely';
import {
  booleanArray,
  intArray,
  momentArray,
  textArray,
  uuidArray,
} from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery, DeliveryBatch } from '../delivery.ts';

/** The queue: what is to be sent, when, and which dispatcher has it. */

/** The deliveries of some events to one endpoint. */
export type Batch = {
  deliveries: readonly Delivery[];
  /** How many of them, from the first, their maker sends without a claim. */
  taken: number;
  /** What these travel under, when they are many. */
  batch?: DeliveryBatch | undefined;
  /** Made for the record only: the subscription is disabled. */
  failed: boolean;
};

/**
 * The record and its place in the queue or in a batch, any number of them in one statement. `holder` is who takes
 * some of them.
 */
export async function insertDeliveries(
  transaction: Transaction,
  batches: readonly Batch[],
  { holder, at }: { holder: string | null; at: Date },
): Promise<void> {
  const endpoints = batches.map(({ deliveries: [first] }) => first as Delivery);
  const rows = batches.flatMap(({ deliveries }) => deliveries);
  await sql`
    /* prepared: insert_deliveries */
    with endpoint as materialized (
      select * from unnest(
        ${uuidArray(endpoints.map(({ subscriptionGuid }) => subscriptionGuid))},
        ${uuidArray(endpoints.map(({ organizationGuid }) => organizationGuid))},
        ${textArray(endpoints.map(({ environment }) => environment))},
        ${booleanArray(batches.map(({ failed }) => failed))},
        ${uuidArray(batches.map(({ batch }) => batch?.guid ?? null))})
      with ordinality as r(subscription_guid, organization_guid, environment, failed, batch_guid, number)
    ), new_delivery as materialized (
      select * from unnest(
        ${uuidArray(rows.map(({ guid }) => guid))},
        ${uuidArray(rows.map(({ eventGuid }) => eventGuid))},
        ${uuidArray(rows.map(({ bankGuid }) => bankGuid))},
        ${textArray(rows.map(({ eventType }) => eventType))},
        ${uuidArray(rows.map(({ objectGuid }) => objectGuid))},
        ${intArray(batches.flatMap(({ deliveries }, index) => deliveries.map(() => index + 1)))},
        ${booleanArray(batches.flatMap(({ deliveries, taken }) => deliveries.map((_, n) => n < taken)))})
      as n(guid, event_guid, bank_guid, event_type, object_guid, number, taken) join endpoint using (number)
    ), recorded as (
      insert into deliveries (guid, organization_guid, environment, subscription_guid, event_guid, bank_guid,
                              event_type, object_guid, attempt_count, created_at, updated_at, failed_at)
      select guid, organization_guid, environment, subscription_guid, event_guid, bank_guid, event_type,
             object_guid, 0, ${at}, ${at}, case when failed then ${at}::timestamptz end
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

export type Waiting = { subscriptionGuid: string; firstDueAt: Date };

/**
 * Subscriptions with something to claim, in the order of their guids, each with its earliest due moment: from one to
 * the next by the index (a loose index scan), so a backlog of any size costs no more than one delivery.
 */
export async function selectWaiting(queries: Queries, after: string, limit: number): Promise<Waiting[]> {
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
    select subscription_guid as "subscriptionGuid", due_at as "firstDueAt" from walk`.execute(queries);
  return rows;
}

export type Claim = {
  subscriptionGuid: string;
  room: number;
  /** Whatever was scheduled before this moment is due, too: the endpoint has recovered since. */
  recoveredAt: Date | null;
};

/**
 * Up to `room` due deliveries of each subscription, the longest due first, now leased by `holder`. Those whose record is
 * gone (nobody dispatched for longer than history is kept) leave the queue.
 */
export async function claimDeliveries(
  queries: Queries,
  { claims, holder, now }: { claims: readonly Claim[]; holder: string; now: Date },
): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    /* prepared: claim_deliveries */
    with claim as materialized (
      select * from unnest(
        ${uuidArray(claims.map(({ subscriptionGuid }) => subscriptionGuid))},
        ${intArray(claims.map(({ room }) => room))},
        ${momentArray(claims.map(({ recoveredAt }) => recoveredAt))})
      as c(subscription_guid, room, recovered_at)
    ), due as materialized (
      select queued.* from claim cross join lateral (
        select q.ctid as place from delivery_queue as q
        where q.subscription_guid = claim.subscription_guid and q.leased_by is null
          and q.due_at <= case when claim.recovered_at is null then ${now}::timestamptz else 'infinity' end
          and (q.due_at <= ${now} or q.scheduled_at < claim.recovered_at)
        order by q.due_at limit claim.room
        for update skip locked
      ) as queued
    ), leased as (
      -- By place: a join would make the planner read the whole queue, for it cannot know how little is claimed.
      update delivery_queue set leased_by = ${holder}
      where ctid = any(array(select place from due))
      returning subscription_guid, delivery_guid, due_at
    )
    ${leasedDeliveries(now)}`.execute(queries);
  return withRecord(queries, rows);
}

/** The end of a claim: the rows of its `leased`, each with its record. */
export const leasedDeliveries = (now: Date) => sql`
    select leased.delivery_guid as guid, leased.subscription_guid as "subscriptionGuid", d.organization_guid as "organizationGuid",
           d.environment, d.event_guid as "eventGuid", d.bank_guid as "bankGuid", d.event_type as "eventType",
           d.object_guid as "objectGuid", d.attempt_count as "attemptCount", d.created_at as "createdAt",
           leased.due_at > ${now} as "isEarly"
    from leased left join deliveries as d
      on d.subscription_guid = leased.subscription_guid and d.guid = leased.delivery_guid
    order by leased.due_at, d.guid`;

/** Those that still have a record; the others leave the queue. */
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

/** Back into the queue as it was: whoever has room claims them. */
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

/**
 * Back into the queue, without waiting for rows that another transaction is writing: those are released by it, or found
 * the next time. (By place: the planner would join the whole queue with itself.)
 */
export async function releaseLeased(queries: Queries, which: RawBuilder<boolean>): Promise<number> {
  const { numAffectedRows } = await sql`
    with leased as materialized (
      select ctid as place from delivery_queue where ${which} for update skip locked
    )
    update delivery_queue set leased_by = null
    where ctid = any(array(select place from leased))`.execute(queries);
  return Number(numAffectedRows ?? 0);
}

/** What `holder` leased without knowing it: not among what it holds, and not so young that it may just be arriving. */
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

/** Nothing more is sent to this subscription: up to `limit` of what waits for it has failed. */
export async function failWaiting(
  queries: Queries,
  subscriptionGuid: string,
  { at, limit }: { at: Date; limit: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with over as (
      delete from delivery_queue as q using (
        select subscription_guid, delivery_guid from delivery_queue
        where subscription_guid = ${subscriptionGuid} and leased_by is null
        limit ${limit} for update skip locked
      ) as o
      where q.subscription_guid = o.subscription_guid and q.delivery_guid = o.delivery_guid
      returning q.subscription_guid, q.delivery_guid
    ), failed as (
      update deliveries as d set failed_at = ${at}, updated_at = ${at} from over
      where d.subscription_guid = over.subscription_guid and d.guid = over.delivery_guid
      returning 1
    )
    select count(*) as count from failed`.execute(queries);
  return rows[0]?.count ?? 0;
}
