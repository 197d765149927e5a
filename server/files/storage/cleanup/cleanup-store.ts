import { sql } from 'kysely';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';

/** Scheduled deletions of content (`file_deletions`), and the progress of the orphan sweep (`content_sweeps`). */

export async function insertDeletion(queries: Queries, guid: string, dueAt: Date): Promise<void> {
  await queries.insertInto('file_deletions').values({ guid, due_at: dueAt }).execute();
}

/** Deletions that are due in this interval may be claimed. */
export type ClaimWindow = { claimedAfter: Date; claimedUntil: Date };

/** Also of content whose deletion is scheduled, unless that may be claimed. */
export async function insertOrMoveDeletion(
  queries: Queries,
  guid: string,
  dueAt: Date,
  { claimedAfter, claimedUntil }: ClaimWindow,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await queries
    .insertInto('file_deletions')
    .values({ guid, due_at: dueAt })
    .onConflict((conflict) =>
      conflict
        .column('guid')
        .doUpdateSet({ due_at: dueAt })
        .where(({ or, eb }) =>
          or([
            eb('file_deletions.due_at', '<=', claimedAfter),
            eb('file_deletions.due_at', '>', claimedUntil),
          ]),
        ),
    )
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** False when a node has already claimed the deletion, so the content may be gone. */
export async function cancelDeletion(transaction: Transaction, guid: string, dueAt: Date): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('file_deletions')
    .where('guid', '=', guid)
    .where('due_at', '=', dueAt)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Of the files of an Organization that have not failed. False when a node may have claimed one of the deletions. */
export async function cancelDeletionsOf(
  transaction: Transaction,
  organizationGuid: string,
  { claimedAfter, claimedUntil }: ClaimWindow,
): Promise<boolean> {
  const ofFiles = sql`d.guid = f.guid and f.organization_guid = ${organizationGuid} and f.failed_at is null`;
  await sql`
    delete from file_deletions as d using files as f
    where ${ofFiles} and (d.due_at <= ${claimedAfter} or d.due_at > ${claimedUntil})`.execute(transaction);
  const { rows } = await sql`select from file_deletions as d, files as f where ${ofFiles} limit 1`.execute(
    transaction,
  );
  return rows.length === 0;
}

/** Claimed deletions are due again at `until`, unless they are finished before. */
export async function claimDeletions(
  queries: Queries,
  now: Date,
  until: Date,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    update file_deletions set due_at = ${until}
    where guid in (
      select guid from file_deletions where due_at <= ${now}
      order by due_at limit ${limit} for update skip locked)
    returning guid`.execute(queries);
  return rows.map(({ guid }) => guid);
}

export async function finishDeletions(
  queries: Queries,
  guids: readonly string[],
  dueAt: Date,
): Promise<void> {
  await queries.deleteFrom('file_deletions').where('guid', 'in', guids).where('due_at', '=', dueAt).execute();
}

/** Claimed deletions that were not tried are due again at `dueAt`. */
export async function releaseDeletions(
  queries: Queries,
  guids: readonly string[],
  claimedUntil: Date,
  dueAt: Date,
): Promise<void> {
  await queries
    .updateTable('file_deletions')
    .set({ due_at: dueAt })
    .where('guid', 'in', guids)
    .where('due_at', '=', claimedUntil)
    .execute();
}

/** The key of the single row: a database has one storage. */
const STORAGE = 'files';

export type SweepProgress = { position: string | null; pass_started_at: Date };

export function selectProgress(queries: Queries): Promise<SweepProgress | undefined> {
  return queries
    .selectFrom('content_sweeps')
    .select(['position', 'pass_started_at'])
    .where('storage', '=', STORAGE)
    .executeTakeFirst();
}

export async function saveProgress(queries: Queries, progress: SweepProgress): Promise<void> {
  await queries
    .insertInto('content_sweeps')
    .values({ storage: STORAGE, ...progress })
    .onConflict((conflict) => conflict.column('storage').doUpdateSet(progress))
    .execute();
}

/** The guids whose content belongs to a file or is scheduled for deletion. */
export async function selectKnownContent(queries: Queries, guids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ guid: string }>`
    select guid from files where guid = any(${guids}::uuid[]) and failed_at is null
    union all
    select guid from file_deletions where guid = any(${guids}::uuid[])`.execute(queries);
  return new Set(rows.map(({ guid }) => guid));
}

/**
 * The files among these that still wait for a poll, for example after an outage of the store or while their Organization
 * is frozen.
 */
export async function selectAwaited(queries: Queries, guids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ guid: string }>`
    select guid from files
    where guid = any(${guids}::uuid[]) and next_look_at is not null and uploaded_at is null`.execute(queries);
  return new Set(rows.map(({ guid }) => guid));
}
