import { sql } from 'kysely';
import type { Queries } from '../../infrastructure/database/database.ts';
import { notFrozen } from '../../infrastructure/database/not-frozen.ts';
import type { FileRow } from '../store.ts';

type Lease = { by: string; until: Date };

/** `process`: inspect content that was uploaded. `poll`: ask the storage whether content was uploaded. */
export type Work = 'process' | 'poll';

/** Organizations visited in one claim; the next claim continues after them. */
const MAX_ORGANIZATIONS_VISITED = 500;

/** `next` is the Organization to continue after; undefined when all were visited. */
type Claim = { files: FileRow[]; next: string | undefined };

/**
 * Claims the earliest due file of each Organization after `after`, in guid order, so that an Organization with a
 * thousand due files does not delay the others. Concurrent nodes never claim the same file.
 */
export async function claimFiles(
  queries: Queries,
  { work, now, lease, after, limit }: { work: Work; now: Date; lease: Lease; after: string; limit: number },
): Promise<Claim> {
  const due = DUE[work];
  const { rows } = await sql<FileRow & Visited>`
    with recursive visited (organization_guid, visit) as (
      (select organization_guid, 1 from files
        where ${due} and organization_guid > ${after}
        order by organization_guid limit 1)
      union all
      select following.organization_guid, visited.visit + 1
      from visited cross join lateral (
        select organization_guid from files
        where ${due} and organization_guid > visited.organization_guid
        order by organization_guid limit 1
      ) as following
      where visited.visit < ${MAX_ORGANIZATIONS_VISITED}
    ),
    claimed as (
      update files set next_look_at = ${lease.until}, leased_by = ${lease.by}
      where guid in (
        select earliest.guid from visited cross join lateral (
          select guid from files
          where ${due} and organization_guid = visited.organization_guid and next_look_at <= ${now}
          order by next_look_at limit 1 for update skip locked
        ) as earliest
        where ${notFrozen('visited.organization_guid')}
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

/** The conditions of the partial indexes. */
const DUE = {
  process: sql`next_look_at is not null and uploaded_at is not null`,
  poll: sql`next_look_at is not null and uploaded_at is null`,
} as const;

/** Uploaded files that wait for processing, counted up to `limit`. */
export async function countWaiting(queries: Queries, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from files where ${DUE.process} limit ${limit}
    ) as waiting`.execute(queries);
  return rows[0]?.count ?? 0;
}
