import { sql } from 'kysely';
import type { Transaction } from './database.ts';

/**
 * For a transaction whose statements find each of their rows by a key. The planner does not know how few these are,
 * nor how large a partition has become since it last looked, and would rather read all of it, or all of one key to sort
 * it although an index has it in order; once prepared, it would go on doing so for as long as the connection lives.
 */
export async function preferIndexes(transaction: Transaction): Promise<void> {
  await sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_sort', 'off', true)`.execute(transaction);
}
