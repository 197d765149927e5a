import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';

/** Content is to be deleted at `dueAt` unless its import commits; `dueAt` identifies the import. */
export async function scheduleDeletion(queries: Queries, guid: string, dueAt: Date): Promise<void> {
  await queries
    .insertInto('file_deletions')
    .values({ guid, due_at: dueAt })
    .onConflict((conflict) => conflict.column('guid').doUpdateSet({ due_at: dueAt }))
    .execute();
}

/** The content belongs to the files that were imported. Returns its number. */
export async function keepContent(
  transaction: Transaction,
  organizationGuid: string,
  dueAt: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from file_deletions as d using files as f
    where f.guid = d.guid and f.organization_guid = ${organizationGuid} and d.due_at = ${dueAt}`.execute(
    transaction,
  );
  return Number(numAffectedRows ?? 0);
}

export async function expediteDeletions(queries: Queries, dueAt: Date, now: Date): Promise<void> {
  await queries.updateTable('file_deletions').set({ due_at: now }).where('due_at', '=', dueAt).execute();
}

/** Of the files of a removed Organization, whose rows are deleted next. */
export async function scheduleDeletions(
  transaction: Transaction,
  organizationGuid: string,
  dueAt: Date,
): Promise<void> {
  await sql`
    insert into file_deletions (guid, due_at)
    select guid, ${dueAt} from files where organization_guid = ${organizationGuid} and failed_at is null
    on conflict do nothing`.execute(transaction);
}
