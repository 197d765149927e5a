import { sql } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';

/** The content belongs to the files that were imported. Returns their guids; no sweep claims them any more. */
export async function keepContent(
  transaction: Transaction,
  organizationGuid: string,
  dueAt: Date,
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    delete from file_deletions as d using files as f
    where f.guid = d.guid and f.organization_guid = ${organizationGuid} and d.due_at = ${dueAt}
    returning d.guid`.execute(transaction);
  return rows.map(({ guid }) => guid);
}

const FIRST_DUE_AT = new Date(0);

/** A sweep carries them out before all others. Returns their number. */
export async function expediteDeletions(queries: Queries, dueAt: Date): Promise<number> {
  const { numUpdatedRows } = await queries
    .updateTable('file_deletions')
    .set({ due_at: FIRST_DUE_AT })
    .where('due_at', '=', dueAt)
    .executeTakeFirst();
  return Number(numUpdatedRows);
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
