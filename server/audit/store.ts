import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { type Page, type PageOf, selectPage } from '../database/paging.ts';
import type { Tables } from '../database/tables.ts';

export type AuditRecord = Selectable<Tables['audit_records']>;
export type AuditFilters = {
  organizationGuid?: readonly string[] | undefined;
  action?: readonly string[] | undefined;
  objectId?: readonly string[] | undefined;
  actor?: readonly string[] | undefined;
};

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
  let query = queries.selectFrom('audit_records').selectAll();
  if (filters.organizationGuid) query = query.where('organization_guid', 'in', filters.organizationGuid);
  if (filters.action) query = query.where('action', 'in', filters.action);
  if (filters.objectId) query = query.where('object_id', 'in', filters.objectId);
  if (filters.actor) query = query.where('actor', 'in', filters.actor);
  return selectPage(queries, query, page);
}
