import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type SavedFilter = Row<'saved_filters'>;

export function selectSavedFilters(
  queries: Queries,
  { memberGuid, organizationGuid }: { memberGuid: string; organizationGuid?: string | undefined },
  limit: number,
): Promise<SavedFilter[]> {
  let query = queries.selectFrom('saved_filters').selectAll().where('member_guid', '=', memberGuid);
  if (organizationGuid) query = query.where('organization_guid', '=', organizationGuid);
  return query.orderBy('organization_guid').orderBy('list').orderBy('name').limit(limit).execute();
}

/** Names and lists of all saved filters of a member in an Organization. */
export function selectSavedNames(
  transaction: Transaction,
  { organizationGuid, memberGuid }: { organizationGuid: string; memberGuid: string },
): Promise<Pick<SavedFilter, 'list' | 'name'>[]> {
  return transaction
    .selectFrom('saved_filters')
    .select(['list', 'name'])
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid)
    .execute();
}

/** Replaces the filters of the same name. */
export function upsertSavedFilter(
  transaction: Transaction,
  { filters, ...row }: SavedFilter,
): Promise<SavedFilter> {
  const text = JSON.stringify(filters);
  return transaction
    .insertInto('saved_filters')
    .values({ ...row, filters: text })
    .onConflict((conflict) =>
      conflict
        .columns(['member_guid', 'organization_guid', 'list', 'name'])
        .doUpdateSet({ filters: text, created_at: row.created_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function deleteSavedFilter(
  transaction: Transaction,
  memberGuid: string,
  guid: string,
): Promise<SavedFilter | undefined> {
  return transaction
    .deleteFrom('saved_filters')
    .where('member_guid', '=', memberGuid)
    .where('guid', '=', guid)
    .returningAll()
    .executeTakeFirst();
}
