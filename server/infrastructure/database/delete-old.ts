import { sql } from 'kysely';
import type { Database, Transaction } from './database.ts';
import { preferIndexes } from './planner.ts';
import type { Tables } from './tables.ts';

/** Rows of one transaction. */
const DELETE_BATCH = 1_000;
const MAX_DELETE_BATCHES = 100;

/**
 * Deletes rows created until then, oldest first, and returns their number. The table has an index on `created_at`, which
 * contains deleted rows until a vacuum: each batch begins where the one before ended, to not read them again.
 */
export async function deleteCreatedUntil(
  database: Pick<Database, 'transaction'>,
  table: keyof Tables,
  until: Date,
): Promise<number> {
  let total = 0;
  let from = new Date(0);
  for (let batch = 0; batch < MAX_DELETE_BATCHES; batch++) {
    const { count, last } = await database.transaction((transaction) =>
      deleteBatch(transaction, table, { from, until }),
    );
    total += count;
    if (last === null || count < DELETE_BATCH) break;
    from = last;
  }
  return total;
}

async function deleteBatch(
  transaction: Transaction,
  table: keyof Tables,
  { from, until }: { from: Date; until: Date },
): Promise<{ count: number; last: Date | null }> {
  await preferIndexes(transaction);
  const { rows } = await sql<{ count: number; last: Date | null }>`
    with deleted as (
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where created_at >= ${from} and created_at <= ${until}
        order by created_at limit ${DELETE_BATCH} for update skip locked
      ))
      returning created_at
    )
    select count(*) as count, max(created_at) as last from deleted`.execute(transaction);
  return rows[0] ?? { count: 0, last: null };
}
