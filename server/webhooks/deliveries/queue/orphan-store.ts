import { sql } from 'kysely';
import type { Queries } from '../../../infrastructure/database/database.ts';
import { releaseLeased } from './queue-store.ts';

/**
 * What is leased by a dispatcher that is not on the list any more. The holders are found first and each row is
 * compared with one of them: a row that a living dispatcher takes meanwhile is left to it.
 */
export async function releaseOrphans(queries: Queries): Promise<number> {
  const { rows } = await sql<{ guid: string }>`
    select distinct leased_by as guid from delivery_queue
    where leased_by is not null and leased_by not in (select guid from dispatchers)`.execute(queries);
  if (rows.length === 0) return 0;
  const gone = rows.map(({ guid }) => guid);
  return releaseLeased(queries, sql<boolean>`leased_by = any(${gone}::uuid[])`);
}
