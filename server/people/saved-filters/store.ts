import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type SavedFilter = Row<'saved_filters'>;
export type Owner = { organizationGuid: string; memberGuid: string };

function ownedBy(queries: Queries, { organizationGuid, memberGuid }: Owner) {
  return queries
    .selectFrom('saved_filters')
    .where('organization_guid', '=', organizationGuid)
    .where('member_guid', '=', memberGuid);
}

export function selectSavedFilters(queries: Queries, owner: Owner, limit: number): Promise<SavedFilter[]> {
  return ownedBy(queries, owner).selectAll().orderBy('list').orderBy('name').limit(limit).execute();
}

/** Names and lists of all saved filters of a member. */
export function selectSavedNames(
  transaction: Transaction,
  owner: Owner,
): Promise<Pick<SavedFilter, 'list' | 'name'>[]> {
  return ownedBy(transaction, owner).select(['list', 'name']).execute();
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
        .columns(['organization_guid', 'member_guid', 'list', 'name'])
        .doUpdateSet({ filters: text, created_at: row.created_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteSavedFilter(
  queries: Queries,
  memberGuid: string,
  guid: string,
): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('saved_filters')
    .where('member_guid', '=', memberGuid)
    .where('guid', '=', guid)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
