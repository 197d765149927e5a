import { sql } from 'kysely';
import {
  intArray,
  momentArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Outcome } from '../delivery.ts';
import type { Counts } from './counters.ts';

/** Records successes. Returns the deliveries that were not completed because `holder` no longer leases them. */
export async function completeDeliveries(
  transaction: Transaction,
  holder: string,
  outcomes: readonly Outcome[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ guid: string }>`
    /* prepared: complete_deliveries */
    with ${queuedSuccesses(outcomes)}, finished as (
      delete from delivery_queue as q using outcome as o
      where q.subscription_guid = o.subscription_guid and q.delivery_guid = o.guid and q.leased_by = ${holder}
      returning o.*
    ), ${completion}`.execute(transaction);
  return new Set(rows.map(({ guid }) => guid));
}

/** Records successes of deliveries that another dispatcher took over. Skips rows that it is writing. */
export async function completeTakenOver(
  transaction: Transaction,
  outcomes: readonly Outcome[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ guid: string }>`
    with ${queuedSuccesses(outcomes)}, free as materialized (
      select q.subscription_guid, q.delivery_guid
      from outcome as o join delivery_queue as q
        on q.subscription_guid = o.subscription_guid and q.delivery_guid = o.guid
      for update of q skip locked
    ), finished as (
      delete from delivery_queue as q using free, outcome as o
      where q.subscription_guid = free.subscription_guid and q.delivery_guid = free.delivery_guid
        and o.subscription_guid = free.subscription_guid and o.guid = free.delivery_guid
      returning o.*
    ), ${completion}`.execute(transaction);
  return new Set(rows.map(({ guid }) => guid));
}

const queuedSuccesses = (outcomes: readonly Outcome[]) => sql`
    outcome as materialized (
      select * from unnest(
        ${uuidArray(outcomes.map(({ delivery }) => delivery.guid))},
        ${uuidArray(outcomes.map(({ delivery }) => delivery.subscriptionGuid))},
        ${intArray(outcomes.map(({ delivery }) => delivery.attemptCount + 1))},
        ${smallintArray(outcomes.map(({ status }) => status ?? null))},
        ${intArray(outcomes.map(({ durationMs }) => durationMs))},
        ${textArray(outcomes.map(({ excerpt }) => excerpt || null))},
        ${momentArray(outcomes.map(({ endedAt }) => endedAt))})
      as o(guid, subscription_guid, number, status, duration_ms, excerpt, ended_at)
    )`;

/**
 * Is in indexes, unlike `completed_at`, and stays null when a first attempt succeeds without delay, which is a heap-only
 * update. Ends the entry of the delivery in the index of failing ones.
 */
const lateCompletedAt = sql`case
  when d.failing_since is not null or o.ended_at - d.created_at > interval '5 minutes' then o.ended_at end`;

/** Uses `finished`; selects the outcomes that are not in it. */
const completion = sql`
    completed as (
      update deliveries as d
      set attempt_count = greatest(d.attempt_count, o.number), response_status = o.status,
          response_time_ms = o.duration_ms, response_excerpt = o.excerpt, failure_kind = null,
          completed_at = o.ended_at, late_completed_at = ${lateCompletedAt}, updated_at = o.ended_at
      from finished as o
      where d.subscription_guid = o.subscription_guid and d.guid = o.guid
    )
    select guid from outcome where guid not in (select guid from finished)`;

/** Records first-attempt successes of batched deliveries. Returns deliveries that were completed before. */
export async function completeBatched(
  transaction: Transaction,
  outcomes: readonly Outcome[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ guid: string }>`
    /* prepared: complete_batched */
    with outcome as materialized (
      select * from unnest(
        ${uuidArray(outcomes.map(({ delivery }) => delivery.guid))},
        ${uuidArray(outcomes.map(({ delivery }) => delivery.subscriptionGuid))},
        ${smallintArray(outcomes.map(({ status }) => status ?? null))},
        ${intArray(outcomes.map(({ durationMs }) => durationMs))},
        ${textArray(outcomes.map(({ excerpt }) => excerpt || null))},
        ${momentArray(outcomes.map(({ endedAt }) => endedAt))})
      as o(guid, subscription_guid, status, duration_ms, excerpt, ended_at)
    ), completed as (
      update deliveries as d
      set attempt_count = 1, response_status = o.status, response_time_ms = o.duration_ms,
          response_excerpt = o.excerpt, completed_at = o.ended_at, late_completed_at = ${lateCompletedAt},
          updated_at = o.ended_at
      from outcome as o
      where d.subscription_guid = o.subscription_guid and d.guid = o.guid and d.completed_at is null
      returning d.guid
    )
    select guid from outcome where guid not in (select guid from completed)`.execute(transaction);
  return new Set(rows.map(({ guid }) => guid));
}

/**
 * Records failures of deliveries that `holder` still leases, with or without a next attempt. Attempts that are recorded
 * already are skipped. If the URL has changed since the request, the next attempt is due at once: the schedule and a
 * Retry-After of the old URL do not apply to the new one. Returns the time of the first failure of each delivery.
 */
export async function failDeliveries(
  transaction: Transaction,
  holder: string,
  outcomes: readonly Outcome[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql<{ guid: string; failing_since: Date }>`
    /* prepared: fail_deliveries */
    with outcome as materialized (
      select * from unnest(
        ${uuidArray(outcomes.map(({ delivery }) => delivery.guid))},
        ${uuidArray(outcomes.map(({ delivery }) => delivery.subscriptionGuid))},
        ${intArray(outcomes.map(({ delivery }) => delivery.attemptCount + 1))},
        ${textArray(outcomes.map(({ result }) => result))},
        ${smallintArray(outcomes.map(({ status }) => status ?? null))},
        ${intArray(outcomes.map(({ durationMs }) => durationMs))},
        ${textArray(outcomes.map(({ excerpt }) => excerpt || null))},
        ${momentArray(outcomes.map(({ endedAt }) => endedAt))},
        ${momentArray(outcomes.map(({ nextAttemptAt }) => nextAttemptAt ?? null))},
        ${momentArray(outcomes.map(earlyAfter))},
        ${textArray(outcomes.map(({ url }) => url))})
      as o(guid, subscription_guid, number, result, status, duration_ms, excerpt, ended_at, next_attempt_at,
           early_after, url)
    ), outstanding as materialized (
      select o.*, (select s.url from subscriptions as s where s.guid = o.subscription_guid) <> o.url as is_outdated
      from outcome as o join deliveries as d
        on d.subscription_guid = o.subscription_guid and d.guid = o.guid
      where d.attempt_count < o.number
    ), again as (
      update delivery_queue as q
      set due_at = case when o.is_outdated then o.ended_at else o.next_attempt_at end, leased_by = null,
          scheduled_at = case when o.is_outdated then o.ended_at else coalesce(o.early_after, 'infinity') end
      from outstanding as o
      where q.subscription_guid = o.subscription_guid and q.delivery_guid = o.guid and q.leased_by = ${holder}
        and o.next_attempt_at is not null
      returning o.*
    ), finished as (
      delete from delivery_queue as q using outstanding as o
      where q.subscription_guid = o.subscription_guid and q.delivery_guid = o.guid and q.leased_by = ${holder}
        and o.next_attempt_at is null
      returning o.*
    ), own as (
      select * from again union all select * from finished
    )
    update deliveries as d
    set attempt_count = o.number, response_status = o.status, response_time_ms = o.duration_ms,
        response_excerpt = o.excerpt, failure_kind = o.result, updated_at = o.ended_at,
        failing_since = coalesce(d.failing_since, o.ended_at),
        failed_at = case when o.next_attempt_at is null then o.ended_at end
    from own as o
    where d.subscription_guid = o.subscription_guid and d.guid = o.guid
    returning d.guid, d.failing_since`.execute(transaction);
  return new Map(rows.map((row) => [row.guid, row.failing_since]));
}

/** A recovery after this time makes the retry due: not during a Retry-After, and never if an early retry has failed. */
function earlyAfter({ delivery, result, endedAt, pausedUntil }: Outcome): Date | null {
  return delivery.isEarly && result !== 'unreachable' ? null : (pausedUntil ?? endedAt);
}

/** Ordered, so that concurrent transactions cannot deadlock. */
export async function addCounts(transaction: Transaction, counts: readonly Counts[]): Promise<void> {
  await sql`
    /* prepared: add_counts, pipelined */
    insert into delivery_counters as c (subscription_guid, minute, completed, failed_attempts, failed, completed_by_retry,
                                        timeouts, response_times)
    select subscription_guid, minute, completed, failed_attempts, failed, completed_by_retry, timeouts,
           response_times::int[] from unnest(
      ${uuidArray(counts.map(({ subscriptionGuid }) => subscriptionGuid))},
      ${momentArray(counts.map(({ minute }) => minute))},
      ${intArray(counts.map(({ completed }) => completed))},
      ${intArray(counts.map(({ failedAttempts }) => failedAttempts))},
      ${intArray(counts.map(({ failed }) => failed))},
      ${intArray(counts.map(({ completedByRetry }) => completedByRetry))},
      ${intArray(counts.map(({ timeouts }) => timeouts))},
      ${textArray(counts.map(({ responseTimes }) => `{${responseTimes.join()}}`))})
    as n(subscription_guid, minute, completed, failed_attempts, failed, completed_by_retry, timeouts, response_times)
    order by subscription_guid, minute
    on conflict (subscription_guid, minute) do update set
      completed = c.completed + excluded.completed,
      failed_attempts = c.failed_attempts + excluded.failed_attempts,
      failed = c.failed + excluded.failed,
      completed_by_retry = c.completed_by_retry + excluded.completed_by_retry,
      timeouts = c.timeouts + excluded.timeouts,
      response_times = (
        select array_agg(before.count + added.count order by before.position)
        from unnest(c.response_times) with ordinality as before(count, position)
        join unnest(excluded.response_times) with ordinality as added(count, position) using (position))
    `.execute(transaction);
}
