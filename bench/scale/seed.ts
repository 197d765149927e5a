import { createDatabase } from '../../server/infrastructure/database/database.ts';
import { createPartitions } from '../../server/infrastructure/database/partitions/partitions.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import type { Context } from '../runner/benchmark.ts';
import type { Site } from '../shared/site.ts';
import type { Tenants } from '../shared/tenants.ts';

export type History = {
  rows: number;
  /** The time over which the rows are spread, ending now. */
  spanMs: number;
  /** Waiting in the queue instead of completed. */
  isWaiting?: boolean;
  /** A second bank of the first tenant, for rare rows. */
  rareBankGuid?: string;
};

export const DAY_MS = 24 * 3_600_000;
/** Rows of a rare value, whatever the size of the history. */
const RARE_ROWS = 20;
export const RARE_EVENT_TYPE = 'plan.failed';
const WEEK_MS = 7 * DAY_MS;
const CHUNK_ROWS = 100_000;
const RETENTION = { retentionDays: 30, auditRetentionDays: 400 };

/**
 * A row `n` belongs to one tenant in turn, four in a row of a tenant to one object. Guids contain the time, as those of
 * the service. Rows are inserted in the order of time into tables with all indexes, in their final state: the pages are
 * those that the service leaves, except for the line pointers of heap-only updates.
 */
const INSERT = `
  with tenant as materialized (
    select row_number() over () - 1 as position, t.*
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as t(organization_guid, bank_guid, subscription_guid)
  ), numbered as (
    select n, n % $4 as position, n / $4 as turn, $5::bigint + (n * $6::float8)::bigint as ms,
           $5::bigint + ((n - n % ($4 * 4)) * $6::float8)::bigint as object_ms
    from generate_series($7::bigint, $8::bigint - 1) as n
  ), new as materialized (
    select seed_guid(ms, 'event' || n) as event_guid, seed_guid(ms, 'sent' || n) as guid,
           seed_guid(object_ms, 'object' || position || '-' || turn / 4) as object_guid, subscription_guid,
           organization_guid, to_timestamp(ms / 1000.0) as moment,
           case when position = 0 and turn % $9 = 0 then '${RARE_EVENT_TYPE}'
                else (array['transfer.storing', 'transfer.pending', 'transfer.reviewing', 'transfer.completed'])[turn % 4 + 1]
           end as event_type,
           case when position = 0 and turn % $9 = 1 then coalesce($10::uuid, bank_guid) else bank_guid end as bank_guid
    from numbered join tenant using (position)
  ), inserted as (
    insert into events (guid, organization_guid, bank_guid, event_type, object_guid, environment, created_at)
    select event_guid, organization_guid, bank_guid, event_type, object_guid, 'sandbox', moment from new order by moment
  ), queued as (
    insert into delivery_queue (subscription_guid, delivery_guid, due_at, scheduled_at)
    select subscription_guid, guid, moment, moment from new where $11 order by moment
  )
  insert into deliveries (subscription_guid, guid, organization_guid, environment, event_guid, bank_guid, event_type,
    object_guid, attempt_count, response_status, response_time_ms, response_excerpt, created_at, updated_at, completed_at)
  select subscription_guid, guid, organization_guid, 'sandbox', event_guid, bank_guid, event_type, object_guid,
    case when $11 then 0 else 1 end, case when not $11 then 200 end, case when not $11 then 3 end,
    case when not $11 then '{"received":true}' end, moment, moment, case when not $11 then moment end
  from new order by moment`;

const GUID_FUNCTION = `
  create or replace function pg_temp.seed_guid(ms bigint, salt text) returns uuid language sql immutable
  return (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(salt), 1, 3) || '8' || substr(md5(salt), 4, 15))::uuid`;

const COUNT_DELIVERIES = `
  insert into delivery_counters (subscription_guid, minute, completed, failed_attempts, response_times)
  select subscription_guid, date_trunc('minute', completed_at), count(*), 0,
         array[count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]::int[]
  from deliveries where completed_at is not null group by 1, 2 on conflict do nothing`;
const COUNT_EVENTS = `
  insert into event_counters (organization_guid, environment, minute, events)
  select organization_guid, environment, date_trunc('minute', created_at), count(*)
  from events group by 1, 2, 3 on conflict do nothing`;

/** Writes events with their deliveries and counters in SQL, as the service would have written them. */
export async function seedHistory(
  { progress }: Pick<Context, 'progress'>,
  site: Site,
  { tenants }: Tenants,
  { rows, spanMs, isWaiting = false, rareBankGuid }: History,
): Promise<void> {
  await createOldPartitions(site, spanMs);
  const subscriptions = await site.query<{ guid: string }>(
    `select s.guid from unnest($1::uuid[]) with ordinality as o(guid, position)
     join subscriptions as s on s.organization_guid = o.guid order by position`,
    [tenants.map(({ organizationGuid }) => organizationGuid)],
  );
  const startMs = Date.now() - spanMs;
  const startedAt = performance.now();
  for (let from = 0; from < rows; from += CHUNK_ROWS) {
    await site.queryAll(
      { text: 'set synchronous_commit = off' },
      { text: GUID_FUNCTION },
      {
        text: INSERT.replaceAll('seed_guid(', 'pg_temp.seed_guid('),
        values: [
          tenants.map(({ organizationGuid }) => organizationGuid),
          tenants.map(({ bankGuid }) => bankGuid),
          subscriptions.map(({ guid }) => guid),
          tenants.length,
          startMs,
          spanMs / rows,
          from,
          Math.min(rows, from + CHUNK_ROWS),
          Math.max(2, Math.floor(rows / tenants.length / RARE_ROWS)),
          rareBankGuid ?? null,
          isWaiting,
        ],
      },
    );
    if ((from / CHUNK_ROWS) % 10 === 9)
      progress(
        `${from + CHUNK_ROWS} of ${rows} rows after ${Math.round((performance.now() - startedAt) / 1_000)} s`,
      );
  }
  await site.query(COUNT_DELIVERIES);
  await site.query(COUNT_EVENTS);
  for (const table of ['events', 'deliveries', 'delivery_queue', 'delivery_counters', 'event_counters'])
    await site.query(`vacuum (analyze) ${table}`);
}

/** The service creates partitions only around the present. */
async function createOldPartitions({ databaseUrl }: Site, spanMs: number): Promise<void> {
  const log = createLog({ level: 'warn', terminal: false });
  const database = createDatabase({ url: new Secret(databaseUrl), connections: 1, log });
  try {
    for (let agoMs = 0; agoMs < spanMs; agoMs += WEEK_MS) {
      const clock = { now: () => new Date(Date.now() - agoMs) };
      await createPartitions({ database, clock, log, ...RETENTION }).prepare();
    }
  } finally {
    await database.close();
  }
}
