import { sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { FileRow } from './store.ts';

/** What is still to be done with the content of files, and which content is to go. */

export type Lease = { by: string; until: Date };

/** Files whose time has come, now this node's until the lease ends; two nodes never get the same. */
export async function claimFiles(
  queries: Queries,
  now: Date,
  { by, until }: Lease,
  limit: number,
): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    update files set next_look_at = ${until}, leased_by = ${by}
    where guid in (
      select guid from files where next_look_at <= ${now}
      order by next_look_at limit ${limit} for update skip locked)
    returning *`.execute(queries);
  return rows;
}

/** Undefined when it is no longer this node's: the lease ran out and another has taken the file. */
export function updateLeased(
  queries: Queries,
  guid: string,
  leasedBy: string,
  changes: Updateable<Tables['files']>,
): Promise<FileRow | undefined> {
  return queries
    .updateTable('files')
    .set(changes)
    .where('guid', '=', guid)
    .where('leased_by', '=', leasedBy)
    .returningAll()
    .executeTakeFirst();
}

/** Content to remove when its time has come. */
export async function insertRemoval(queries: Queries, guid: string, dueAt: Date): Promise<void> {
  await queries.insertInto('file_removals').values({ guid, due_at: dueAt }).execute();
}

/** Takes a removal back; false when somebody is already at it, and the content may be gone. */
export async function deleteRemoval(transaction: Transaction, guid: string, dueAt: Date): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('file_removals')
    .where('guid', '=', guid)
    .where('due_at', '=', dueAt)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Those whose time has come; they come again at `until`, unless they are deleted before. */
export async function claimRemovals(
  queries: Queries,
  now: Date,
  until: Date,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    update file_removals set due_at = ${until}
    where guid in (
      select guid from file_removals where due_at <= ${now}
      order by due_at limit ${limit} for update skip locked)
    returning guid`.execute(queries);
  return rows.map(({ guid }) => guid);
}

export async function deleteRemovals(queries: Queries, guids: readonly string[], dueAt: Date): Promise<void> {
  await queries.deleteFrom('file_removals').where('guid', 'in', guids).where('due_at', '=', dueAt).execute();
}

/** Files whose content is there and waits to be looked at, counted up to `limit`. */
export async function countWaiting(queries: Queries, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from files where next_look_at is not null and uploaded_at is not null limit ${limit}
    ) as waiting`.execute(queries);
  return rows[0]?.count ?? 0;
}
