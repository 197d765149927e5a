import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { type Page, type PageOf, selectPage } from '../database/paging.ts';
import type { Tables } from '../database/tables.ts';
import { firstGuidAt } from '../runtime/guid.ts';

export type AuditRecord = Selectable<Tables['audit_records']>;
export type AuditFilters = {
  organizationGuid?: readonly string[] | undefined;
  action?: readonly string[] | undefined;
  objectId?: readonly string[] | undefined;
  actor?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** How far the time in a record's guid may lie from `created_at`: clocks step, and guids never go back. */
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
  return selectPage(queries, recordsBy(queries, filters), page);
}

/** Without counting: for who reads all of it. */
export async function selectRecordsAfter(
  queries: Queries,
  { perPage, after }: Page,
  filters: AuditFilters,
): Promise<AuditRecord[]> {
  let query = recordsBy(queries, filters).orderBy('guid', 'desc').limit(perPage);
  if (after !== undefined) query = query.where('guid', '<', after);
  return query.execute();
}

/** A window of time is one of guids too, whose order the indexes have. */
function recordsBy(queries: Queries, filters: AuditFilters) {
  let query = queries.selectFrom('audit_records').selectAll();
  if (filters.organizationGuid) query = query.where('organization_guid', 'in', filters.organizationGuid);
  if (filters.action) query = query.where('action', 'in', filters.action);
  if (filters.objectId) query = query.where('object_id', 'in', filters.objectId);
  if (filters.actor) query = query.where('actor', 'in', filters.actor);
  const { createdAtGte: from, createdAtLt: until } = filters;
  if (from) query = query.where('created_at', '>=', from).where('guid', '>=', guidNear(from, -GUID_SLACK_MS));
  if (until) query = query.where('created_at', '<', until).where('guid', '<', guidNear(until, GUID_SLACK_MS));
  return query;
}

function guidNear(moment: Date, ms: number): string {
  return firstGuidAt(new Date(Math.max(0, moment.getTime() + ms)));
}
