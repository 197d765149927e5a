import { sql } from 'kysely';
import type { Queries } from '../../../infrastructure/database/database.ts';

/** One row for each storage; a database has one, but this name says which. */
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

/** Those of these guids whose content belongs to a file, or will be removed in its time. */
export async function selectKnownContent(queries: Queries, guids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ guid: string }>`
    select guid from files where guid = any(${guids}::uuid[]) and failed_at is null
    union all
    select guid from file_removals where guid = any(${guids}::uuid[])`.execute(queries);
  return new Set(rows.map(({ guid }) => guid));
}
