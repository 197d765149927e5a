import { sql } from 'kysely';
import type { Database, Queries } from '../../server/infrastructure/database/database.ts';

/** Runs `work` while another transaction holds the locks of `take`, without the timeout of idle transactions. */
export async function whileHeld<T>(
  database: Database,
  take: (queries: Queries) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  return database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      await take(transaction);
      return work();
    }),
  );
}

/** Blocks every query of the table until `work` is done. */
export function whileTableIsLocked(
  database: Database,
  table: 'banks' | 'files' | 'objects' | 'revocations',
  work: () => Promise<void>,
): Promise<void> {
  const lock = sql`lock table ${sql.table(table)} in access exclusive mode`;
  return whileHeld(database, (queries) => lock.execute(queries), work);
}

/** How many connections of the database wait for a lock. */
export async function lockWaits(queries: Queries): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    queries,
  );
  return rows.length;
}
