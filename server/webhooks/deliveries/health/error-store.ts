import { sql } from 'kysely';
import {
  intArray,
  momentArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import type { FailureKind } from '../../../infrastructure/database/tables.ts';
import type { ErrorCount } from './errors.ts';

/** After the outcomes were applied to the subscriptions. Ordered, so that concurrent transactions cannot deadlock. */
export async function addErrors(transaction: Transaction, errors: readonly ErrorCount[]): Promise<void> {
  await sql`
    /* prepared: add_errors, pipelined */
    insert into endpoint_errors as e (subscription_guid, kind, status, failing_since, count, last_at, delivery_guid,
                                      attempt_number)
    select n.subscription_guid, n.kind, n.status, coalesce(failing_since, n.last_at), n.count, n.last_at,
           n.delivery_guid, n.attempt_number
    from unnest(
      ${uuidArray(errors.map(({ subscriptionGuid }) => subscriptionGuid))},
      ${textArray(errors.map(({ kind }) => kind))},
      ${smallintArray(errors.map(({ status }) => status ?? 0))},
      ${intArray(errors.map(({ count }) => count))},
      ${momentArray(errors.map(({ lastAt }) => lastAt))},
      ${uuidArray(errors.map(({ deliveryGuid }) => deliveryGuid))},
      ${intArray(errors.map(({ attemptNumber }) => attemptNumber))})
    as n(subscription_guid, kind, status, count, last_at, delivery_guid, attempt_number)
    -- One lookup for each: to join in the order of guids the planner would read all subscriptions.
    cross join lateral (
      select deliveries_failing_since as failing_since from subscriptions where guid = n.subscription_guid limit 1
    ) as s
    order by n.subscription_guid, n.kind, n.status
    on conflict (subscription_guid, kind, status) do update set
      count = excluded.count + case when e.failing_since = excluded.failing_since then e.count else 0 end,
      failing_since = excluded.failing_since,
      -- An outcome may be recorded after later ones.
      last_at = greatest(e.last_at, excluded.last_at),
      delivery_guid = case when excluded.last_at < e.last_at then e.delivery_guid else excluded.delivery_guid end,
      attempt_number = case when excluded.last_at < e.last_at then e.attempt_number else excluded.attempt_number end`.execute(
    transaction,
  );
}

export type EndpointError = {
  subscriptionGuid: string;
  kind: FailureKind;
  /** 0 without a response. */
  status: number;
  failingSince: Date;
  count: number;
  lastAt: Date;
  deliveryGuid: string;
  attemptNumber: number;
  /** Absent once the attempt is older than the retention. */
  excerpt: string | null;
  reason: string | null;
};

/** The newest kinds of errors of each endpoint, newest first. */
export async function selectErrors(
  queries: Queries,
  subscriptionGuids: readonly string[],
  maxKinds: number,
): Promise<EndpointError[]> {
  const { rows } = await sql<EndpointError>`
    select e.subscription_guid as "subscriptionGuid", e.kind, e.status, e.failing_since as "failingSince", e.count,
           e.last_at as "lastAt", e.delivery_guid as "deliveryGuid", e.attempt_number as "attemptNumber",
           a.response_excerpt as excerpt, a.reason
    from unnest(${uuidArray(subscriptionGuids)}) as s(guid)
    cross join lateral (
      select * from endpoint_errors where subscription_guid = s.guid order by last_at desc limit ${maxKinds}
    ) as e
    left join delivery_attempts as a on a.delivery_guid = e.delivery_guid and a.number = e.attempt_number
    order by e.subscription_guid, e.last_at desc`.execute(queries);
  return rows;
}

/**
 * The earliest due time of each subscription. `first` is set for an endpoint that has not answered 2xx yet: only that
 * delivery is sent. Without a free delivery there is no row: all are being sent, or none waits.
 */
export async function selectNextAttempts(
  queries: Queries,
  subscriptions: readonly { guid: string; first: string | undefined }[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql<{ guid: string; dueAt: Date }>`
    select s.guid, coalesce(of_first.due_at, of_any.due_at) as "dueAt"
    from unnest(${uuidArray(subscriptions.map(({ guid }) => guid))},
                ${uuidArray(subscriptions.map(({ first }) => first ?? null))}) as s(guid, first)
    left join lateral (
      select due_at from delivery_queue
      where subscription_guid = s.guid and delivery_guid = s.first
        -- Keeps the planner on the primary key, however many deliveries wait.
        and coalesce(leased_by, s.guid) = s.guid
    ) as of_first on true
    left join lateral (
      select due_at from delivery_queue where subscription_guid = s.guid and leased_by is null and s.first is null
      order by subscription_guid, due_at limit 1
    ) as of_any on true
    where coalesce(of_first.due_at, of_any.due_at) is not null`.execute(queries);
  return new Map(rows.map(({ guid, dueAt }) => [guid, dueAt]));
}
