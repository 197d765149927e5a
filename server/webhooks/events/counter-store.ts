import { sql } from 'kysely';
import { intArray, momentArray, textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';

/** Events of one Organization in one environment and one minute. */
export type EventCount = {
  organizationGuid: string;
  environment: EnvironmentName;
  minute: Date;
  events: number;
};

/** Writer and sequence make a retried write idempotent. */
export type Write = { writer: string; sequence: number; at: Date };

/** Ordered, so that concurrent transactions cannot deadlock. */
export async function addEventCounts(
  queries: Queries,
  { writer, sequence, at }: Write,
  counts: readonly EventCount[],
): Promise<void> {
  await sql`
    /* prepared: add_event_counts */
    with write as (
      insert into event_count_writers as w (guid, sequence, written_at) values (${writer}, ${sequence}, ${at})
      on conflict (guid) do update set sequence = excluded.sequence, written_at = excluded.written_at
      where w.sequence < excluded.sequence
      returning 1
    )
    insert into event_counters as c (organization_guid, environment, minute, events)
    select organization_guid, environment, minute, events from unnest(
      ${uuidArray(counts.map(({ organizationGuid }) => organizationGuid))},
      ${textArray(counts.map(({ environment }) => environment))},
      ${momentArray(counts.map(({ minute }) => minute))},
      ${intArray(counts.map(({ events }) => events))})
    as n(organization_guid, environment, minute, events)
    where exists (select 1 from write)
    order by organization_guid, environment, minute
    on conflict (organization_guid, environment, minute) do update set events = c.events + excluded.events
    `.execute(queries);
}

/** Deletes writers without a write since `moment`; returns their number. */
export async function deleteWritersBefore(queries: Queries, moment: Date): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('event_count_writers')
    .where('written_at', '<', moment)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export type Window = { from: Date; to: Date; stepSeconds: number };

/** Sums per step of the window; omits steps without events. */
export async function selectEventCounts(
  queries: Queries,
  organizationGuid: string,
  environments: readonly EnvironmentName[],
  { from, to, stepSeconds }: Window,
): Promise<{ at: Date; events: number }[]> {
  const { rows } = await sql<{ at: Date; events: number }>`
    select date_bin(make_interval(secs => ${stepSeconds}), minute, ${from}::timestamptz) as at,
           sum(events) as events
    from event_counters
    where organization_guid = ${organizationGuid} and environment = any(${textArray(environments)})
      and minute >= ${from} and minute < ${to}
    group by 1`.execute(queries);
  return rows;
}
