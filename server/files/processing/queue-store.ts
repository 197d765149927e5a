import { sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Tables } from '../../infrastructure/database/tables.ts';
import type { FileRow } from '../store.ts';

/** What is still to be done with the content of files, and which content is to go. */

export type Lease = { by: string; until: Date };

/** What has to be done with a file: examine content that is there, or ask whether it has come. */
export type Work = 'arrived' | 'awaited';

/** Organizations visited in one claim; the next claim goes on behind them. */
const MAX_ORGANIZATIONS_VISITED = 500;

/** `next` is the Organization to go on behind; undefined when all of them were visited. */
export type Claim = { files: FileRow[]; next: string | undefined };

/**
 * The earliest due file of each Organization behind `after`, one each, in the order of their guids: an Organization with
 * a thousand due files waits for its turn like one with a single file. Two nodes never get the same file.
 */
export async function claimFiles(
  queries: Queries,
  { work, now, lease, after, limit }: { work: Work; now: Date; lease: Lease; after: string; limit: number },
): Promise<Claim> {
  const due = DUE[work];
  const { rows } = await sql<FileRow & Visited>`
    with recursive visited (organization_guid, turn) as (
      (select organization_guid, 1 from files
        where ${due} and organization_guid > ${after}
        order by organization_guid limit 1)
      union all
      select following.organization_guid, visited.turn + 1
      from visited cross join lateral (
        select organization_guid from files
        where ${due} and organization_guid > visited.organization_guid
        order by organization_guid limit 1
      ) as following
      where visited.turn < ${MAX_ORGANIZATIONS_VISITED}
    ),
    claimed as (
      update files set next_look_at = ${lease.until}, leased_by = ${lease.by}
      where guid in (
        select earliest.guid from visited cross join lateral (
          select guid from files
          where ${due} and organization_guid = visited.organization_guid and next_look_at <= ${now}
          order by next_look_at limit 1 for update skip locked
        ) as earliest
        limit ${limit})
      returning *
    )
    select claimed.*, walk.last_visited, walk.visits
    from (select max(organization_guid::text)::uuid as last_visited, count(*) as visits from visited) as walk
    left join claimed on true
    order by claimed.organization_guid`.execute(queries);
  const files = rows
    .filter(({ guid }) => guid !== null)
    .map(({ last_visited: _, visits: __, ...file }) => file);
  if (files.length === limit) return { files, next: files.at(-1)?.organization_guid };
  const [walk] = rows;
  const cutOff = walk && walk.visits === MAX_ORGANIZATIONS_VISITED;
  return { files, next: cutOff ? (walk.last_visited ?? undefined) : undefined };
}

type Visited = { last_visited: string | null; visits: number };

/** In the words of the partial indexes. */
const DUE = {
  arrived: sql`next_look_at is not null and uploaded_at is not null`,
  awaited: sql`next_look_at is not null and uploaded_at is null`,
} as const;

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
