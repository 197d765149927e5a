import { type RawBuilder, type Selectable, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import {
  distinct,
  type Narrowing,
  selectPageOfEach,
} from '../../infrastructure/database/paging/value-paging.ts';
import type { EnvironmentName, Tables } from '../../infrastructure/database/tables.ts';
import { highestGuidOf, lowestGuidOf } from './guid-window.ts';

type Sql = RawBuilder<unknown>;

export type Event = Selectable<Tables['events']>;

/** What a token may see: its Organization's, in its environment or, without one, in both. */
export type Visible = { organizationGuid: string; environment?: EnvironmentName | undefined };

export type EventFilters = {
  guid?: readonly string[] | undefined;
  eventType?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  objectGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

const ENVIRONMENTS: readonly EnvironmentName[] = ['production', 'sandbox'];

/** Events whose guids were made here just now, so that none of them can be there already. */
export async function insertNewEvents(
  transaction: Transaction,
  events: readonly Omit<Event, 'created_at'>[],
  createdAt: Date,
): Promise<void> {
  await sql`
    /* prepared: insert_new_events */
    insert into events (guid, organization_guid, bank_guid, event_type, object_guid, environment, created_at)
    select new.*, ${createdAt}::timestamptz from ${unnested(events)} as new`.execute(transaction);
}

/**
 * One statement for any number of events, all of the same moment; gives the guids that were there before. In the order
 * of the guids: two nodes that are told the same in another order wait for each other, never in a circle.
 */
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

/** Of any tenant: for whoever may speak of all of them. */
export function selectEventsByGuid(queries: Queries, guids: readonly string[]): Promise<Event[]> {
  return queries
    .selectFrom('events')
    .selectAll()
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .execute();
}

export function selectEvent(queries: Queries, visible: Visible, guid: string): Promise<Event | undefined> {
  let query = queries
    .selectFrom('events')
    .selectAll()
    .where('organization_guid', '=', visible.organizationGuid)
    .where('guid', '=', guid);
  if (visible.environment) query = query.where('environment', '=', visible.environment);
  return query.executeTakeFirst();
}

/** By the index of what is asked for: the object, the type, the bank, or the environment alone. */
export async function selectEvents(
  queries: Queries,
  { organizationGuid, environment }: Visible,
  page: Page,
  filters: EventFilters,
): Promise<PageOf<Event>> {
  const environments = ENVIRONMENTS.filter(
    (name) => name === (environment ?? name) && (filters.environment?.includes(name) ?? true),
  );
  if (environments.length === 0) return { rows: [], total: 0, next: undefined };
  const where = [
    sql`organization_guid = ${organizationGuid} and environment = any(${textArray(environments)})`,
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
  // The guid decides which partitions are read, `created_at` which events are shown.
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
