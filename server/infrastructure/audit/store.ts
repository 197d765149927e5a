import { type Insertable, type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../database/arrays.ts';
import type { Queries, Transaction } from '../database/database.ts';
import type { Page, PageOf } from '../database/paging/paging.ts';
import {
  distinct,
  type Narrowed,
  selectNewestOfEach,
  selectPageOfEach,
} from '../database/paging/value-paging.ts';
import type { Row, Tables } from '../database/tables.ts';
import { firstGuidAt } from '../runtime/guid.ts';

type Sql = RawBuilder<unknown>;
export type AuditRecord = Row<'audit_records'>;
export type AuditFilters = {
  organizationGuid?: readonly string[] | undefined;
  /** Actions, and prefixes that end with a dot. */
  action?: readonly string[] | undefined;
  objectId?: readonly string[] | undefined;
  actor?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** The guid's time may differ from `created_at` by this much: clocks step back, and guids never do. */
const GUID_SLACK_MS = 5 * 60_000;

export async function insertRecords(
  transaction: Transaction,
  records: readonly Insertable<Tables['audit_records']>[],
): Promise<void> {
  await transaction.insertInto('audit_records').values(records).execute();
}

export function selectRecords(
  queries: Queries,
  page: Page,
  filters: AuditFilters,
): Promise<PageOf<AuditRecord>> {
  return selectPageOfEach(queries, [sourceOf(filters)], page);
}

/** Without a total, for keyset iteration. */
export function selectRecordsAfter(
  queries: Queries,
  { perPage, after }: Page,
  filters: AuditFilters,
): Promise<AuditRecord[]> {
  return selectNewestOfEach(queries, sourceOf(filters), perPage, after);
}

/** Different actions of an Organization, and of all records for the operator; an index probe for each. */
const MAX_ACTIONS = 500;

/**
 * The recorded actions that begin with one of the prefixes. The walk jumps from one action to the next in the index, so
 * its cost does not depend on the number of records. Comparing in the order of the index alone works in every collation,
 * which a range from one prefix to the next does not.
 */
export async function selectActions(
  queries: Queries,
  organizationGuids: readonly string[] | undefined,
  prefixes: readonly string[],
): Promise<string[]> {
  const next = (tenant: Sql | undefined, after: Sql) =>
    tenant
      ? sql`select action from audit_records
            where (organization_guid, action) > (${tenant}, ${after}) and organization_guid <= ${tenant}
            order by organization_guid, action limit 1`
      : sql`select action from audit_records where action > ${after} order by action limit 1`;
  const walk = (tenant: Sql | undefined) => sql`
    with recursive walked (action, number) as (
      select '', 0
      union all
      select following.action, walked.number + 1
      from walked cross join lateral (${next(tenant, sql`walked.action`)}) as following
      where walked.number < ${MAX_ACTIONS}
    ) select action from walked`;
  const all = organizationGuids
    ? sql`select own.action from unnest(${uuidArray(distinct(organizationGuids))}) as tenant (guid)
          cross join lateral (${walk(sql`tenant.guid`)}) as own`
    : walk(undefined);
  const { rows } = await sql<{ action: string }>`
    select distinct action from (${all}) as recorded
    where exists (select 1 from unnest(${textArray(prefixes)}) as wanted (prefix) where starts_with(action, prefix))
  `.execute(queries);
  return rows.map(({ action }) => action);
}

/** Records of one object that are searched for its name. */
const MAX_SEARCHED = 50;

/** The last recorded name of each object, by its id; for objects that no longer exist. */
export async function selectRecordedNames(
  queries: Queries,
  organizationGuid: string,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select wanted.id, named.name from unnest(${textArray(distinct(objectIds))}) as wanted (id) cross join lateral (
      select own.name from (
        select guid, coalesce(changes ->> 'name', before ->> 'name') as name from audit_records as listed
        where organization_guid = ${organizationGuid} and object_id >= wanted.id and object_id <= wanted.id
        order by object_id desc, guid desc limit ${MAX_SEARCHED}
      ) as own
      where own.name is not null order by own.guid desc limit 1
    ) as named`.execute(queries);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Chooses the index: by object, by action or by actor within the Organizations, or by Organization alone. */
function sourceOf(filters: AuditFilters): Narrowed {
  const { organizationGuid, objectId, action, actor } = filters;
  const words = (column: Sql, values: readonly string[]) => ({ column, values: textArray(distinct(values)) });
  const organizations = organizationGuid
    ? [{ column: sql`organization_guid`, values: uuidArray(distinct(organizationGuid)) }]
    : [];
  const source = { table: 'audit_records', where: conditionsOf(filters) };
  if (objectId) return { ...source, each: [...organizations, words(sql`object_id`, objectId)] };
  if (action) return { ...source, each: [...organizations, words(sql`action`, action)] };
  if (actor) return { ...source, each: [...organizations, words(sql`actor`, actor)] };
  return { ...source, each: organizations };
}

/** A time window is also a guid window, which the indexes can use. */
function conditionsOf(filters: AuditFilters): Sql[] {
  const where = [sql`true`];
  const { organizationGuid, objectId, action, actor, createdAtGte: from, createdAtLt: until } = filters;
  if (organizationGuid) where.push(sql`organization_guid = any(${uuidArray(organizationGuid)})`);
  if (action) where.push(sql`action = any(${textArray(action)})`);
  if (objectId) where.push(sql`object_id = any(${textArray(objectId)})`);
  if (actor) where.push(sql`actor = any(${textArray(actor)})`);
  if (from) where.push(sql`created_at >= ${from} and guid >= ${guidNear(from, -GUID_SLACK_MS)}`);
  if (until) where.push(sql`created_at < ${until} and guid < ${guidNear(until, GUID_SLACK_MS)}`);
  return where;
}

function guidNear(moment: Date, ms: number): string {
  return firstGuidAt(new Date(Math.max(0, moment.getTime() + ms)));
}
