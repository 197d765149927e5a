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

/** Chooses the index: by object, by action or by actor within the Organizations, or by Organization alone. */
function sourceOf(filters: AuditFilters): Narrowed {
  const { organizationGuid, objectId, action, actor } = filters;
  const words = (column: Sql, values: readonly string[]) => ({ column, values: textArray(distinct(values)) });
  const organizations = organizationGuid
    ? [{ column: sql`organization_guid`, values: uuidArray(distinct(organizationGuid)) }]
    : [];
  const source = { table: 'audit_records', where: conditionsOf(filters) };
  if (objectId) return { ...source, each: [words(sql`object_id`, objectId)] };
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
