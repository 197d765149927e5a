import { type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import {
  distinct,
  type Narrowing,
  selectPageOfEach,
} from '../../infrastructure/database/paging/value-paging.ts';
import type { EnvironmentName, Row } from '../../infrastructure/database/tables.ts';
import { type Visible, visibleEnvironments } from '../visible.ts';
import { highestGuidOf, lowestGuidOf } from './guid-window.ts';

type Sql = RawBuilder<unknown>;

export type Event = Row<'events'>;

export type EventFilters = {
  guid?: readonly string[] | undefined;
  eventType?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  objectGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** Inserts events with new guids; one that exists fails the transaction. Ordered, as by `insertEvents`. */
export async function insertNewEvents(
  transaction: Transaction,
  events: readonly Omit<Event, 'created_at'>[],
  createdAt: Date,
): Promise<void> {
  await sql`
    /* prepared: insert_new_events, pipelined */
    insert into events (guid, organization_guid, bank_guid, event_type, object_guid, environment, created_at)
    select new.*, ${createdAt}::timestamptz from ${unnested(events)} as new order by 1`.execute(transaction);
}

/** Returns the guids that existed before. Ordered by guid, so that concurrent transactions cannot deadlock. */
export async function insertEvents(
  transaction: Transaction,
  events: readonly Omit<Event, 'created_at'>[],
  createdAt: Date,
): Promise<Set<string>> {
  const { rows } = await sql<{ guid: string }>`
    /* prepared: insert_events */
    with reported as materialized (
      select * from ${unnested(events)} as r(guid, organization_guid, bank_guid, event_type, object_guid, environment)
    ), inserted as (
      insert into events (guid, organization_guid, bank_guid, event_type, object_guid, environment, created_at)
      select reported.*, ${createdAt}::timestamptz from reported order by guid
      on conflict do nothing
      returning guid
    )
    select guid from reported except select guid from inserted`.execute(transaction);
  return new Set(rows.map((row) => row.guid));
}

function unnested(events: readonly Omit<Event, 'created_at'>[]) {
  return sql`unnest(
    ${uuidArray(events.map((event) => event.guid))},
    ${uuidArray(events.map((event) => event.organization_guid))},
    ${uuidArray(events.map((event) => event.bank_guid))},
    ${textArray(events.map((event) => event.event_type))},
    ${uuidArray(events.map((event) => event.object_guid))},
    ${textArray(events.map((event) => event.environment))})`;
}

/** Of any tenant; only for events reported by the core. */
export function selectEventsByGuid(queries: Queries, guids: readonly string[]): Promise<Event[]> {
  return queries
    .selectFrom('events')
    .selectAll()
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .execute();
}

export function selectNamedEvents(
  queries: Queries,
  { organizationGuid, environment }: Visible,
  guids: readonly string[],
): Promise<Event[]> {
  let query = queries
    .selectFrom('events')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`);
  if (environment) query = query.where('environment', '=', environment);
  return query.execute();
}

/** Uses the index of the most selective filter: object, type, bank, or only the environment. */
export async function selectEvents(
  queries: Queries,
  visible: Visible,
  page: Page,
  filters: EventFilters,
): Promise<PageOf<Event>> {
  const environments = visibleEnvironments(visible, filters.environment);
  if (environments.length === 0) return { rows: [], total: 0, next: undefined };
  const where = [
    sql`organization_guid = ${visible.organizationGuid} and environment = any(${textArray(environments)})`,
    ...conditionsOf(filters),
  ];
  return selectPageOfEach(
    queries,
    [{ table: 'events', where, each: narrowest(environments, filters) }],
    page,
  );
}

function conditionsOf(filters: EventFilters): Sql[] {
  const where: Sql[] = [];
  if (filters.guid) where.push(sql`guid = any(${uuidArray(filters.guid)})`);
  if (filters.eventType) where.push(sql`event_type = any(${textArray(filters.eventType)})`);
  if (filters.bankGuid) where.push(sql`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  if (filters.objectGuid) where.push(sql`object_guid = any(${uuidArray(filters.objectGuid)})`);
  // The guid range prunes partitions; `created_at` is the exact filter.
  const { createdAtGte: from, createdAtLt: until } = filters;
  if (from) where.push(sql`guid >= ${lowestGuidOf(from)} and created_at >= ${from}`);
  if (until) where.push(sql`guid < ${highestGuidOf(until)} and created_at < ${until}`);
  return where;
}

function narrowest(
  environments: readonly EnvironmentName[],
  { guid, objectGuid, eventType, bankGuid }: EventFilters,
): Narrowing[] {
  if (guid) return [];
  if (objectGuid) return [{ column: sql`object_guid`, values: uuidArray(distinct(objectGuid)) }];
  const environment = { column: sql`environment`, values: textArray(environments) };
  if (eventType) return [environment, { column: sql`event_type`, values: textArray(distinct(eventType)) }];
  if (bankGuid) return [environment, { column: sql`bank_guid`, values: uuidArray(distinct(bankGuid)) }];
  return [environment];
}
