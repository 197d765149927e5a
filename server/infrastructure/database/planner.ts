import { sql } from 'kysely';
import type { Transaction } from './database.ts';

/**
 * For a transaction that finds all rows by key. The planner's statistics lag behind the growth of a partition, so it
 * might choose a sequential scan or a sort, and a prepared statement would keep that plan for the lifetime of the
 * connection.
 */
export async function preferIndexes(transaction: Transaction): Promise<void> {
  await sql`/* pipelined */
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_sort', 'off', true)`.execute(transaction);
}
