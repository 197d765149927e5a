import { sql } from 'kysely';
import type { Database, Queries } from '../../server/infrastructure/database/database.ts';

/** Blocks every query of the table until `work` is done. */
export async function whileTableIsLocked(
  database: Database,
  table: 'banks' | 'files' | 'objects' | 'revocations',
  work: () => Promise<void>,
): Promise<void> {
  await database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(transaction);
      await work();
    }),
  );
}

/** How many connections of the database wait for a lock. */
export async function lockWaits(queries: Queries): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    queries,
  );
  return rows.length;
}
