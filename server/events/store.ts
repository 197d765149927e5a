import { type Selectable, sql } from 'kysely';
import { textArray, uuidArray } from '../database/arrays.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { selectMergedPage } from '../database/merged-paging.ts';
import { type Page, type PageOf, selectPage } from '../database/paging.ts';
import type { EnvironmentName, Tables } from '../database/tables.ts';
import { highestGuidOf, lowestGuidOf } from './guid-window.ts';

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

/** The index has the guids in order within an environment, not across both. */
export async function selectEvents(
  queries: Queries,
  { organizationGuid, environment }: Visible,
  page: Page,
  filters: EventFilters,
): Promise<PageOf<Event>> {
  const [first, ...rest] = ENVIRONMENTS.filter(
    (name) => name === (environment ?? name) && (filters.environment?.includes(name) ?? true),
  ).map((name) => selectFiltered(queries, organizationGuid, name, filters));
  if (!first) return { rows: [], total: 0, next: undefined };
  return rest.length === 0
    ? selectPage(queries, first, page)
    : selectMergedPage(queries, [first, ...rest], page);
}

function selectFiltered(
  queries: Queries,
  organizationGuid: string,
  environment: EnvironmentName,
  filters: EventFilters,
) {
  let query = queries
    .selectFrom('events')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('environment', '=', environment);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.eventType) query = query.where('event_type', 'in', filters.eventType);
  if (filters.bankGuid) query = query.where('bank_guid', 'in', filters.bankGuid);
  if (filters.objectGuid) query = query.where('object_guid', 'in', filters.objectGuid);
  // The guid decides which partitions are read, `created_at` which events are shown.
  if (filters.createdAtGte)
    query = query
      .where('guid', '>=', lowestGuidOf(filters.createdAtGte))
      .where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt)
    query = query
      .where('guid', '<', highestGuidOf(filters.createdAtLt))
      .where('created_at', '<', filters.createdAtLt);
  // The few events of some objects are gathered first and then sorted (`offset 0` keeps the two apart); in one step
  // the planner would rather walk the whole history in order, expecting to meet them soon.
  const gathered = (filters.objectGuid?.length ?? 0) > 1 ? query.offset(0) : query;
  return queries.selectFrom(gathered.as('events')).selectAll();
}
