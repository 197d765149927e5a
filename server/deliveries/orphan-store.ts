import { sql } from 'kysely';
import type { Queries } from '../database/database.ts';

/**
 * What is leased by a dispatcher that is not on the list any more. The holders are found first and each row is
 * compared with one of them: a row that a living dispatcher takes meanwhile is left to it.
 */
export async function releaseOrphans(queries: Queries): Promise<number> {
  const { numAffectedRows } = await sql`
    with gone as materialized (
      select distinct leased_by as guid from delivery_queue
      where leased_by is not null and leased_by not in (select guid from dispatchers)
    )
    update delivery_queue as q set leased_by = null from gone where q.leased_by = gone.guid`.execute(queries);
  return Number(numAffectedRows ?? 0);
}
