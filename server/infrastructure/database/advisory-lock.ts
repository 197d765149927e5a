import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';

/**
 * A host that lost its power says no goodbye. The server asks after half a minute of silence, instead of the usual
 * two hours, and gives the lock to the others when nobody answers.
 */
const KEEPALIVE = { idle: '30', interval: '10', count: '3' };
/** For each statement on the connection of the lock; the work itself runs on the pool. */
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * Does the work unless another process does work of this name at this moment; tells whether it did. The lock spares
 * double work: should its connection break, another may begin before this one ends, and both must be right.
 *
 * The lock belongs to a session that has no transaction open, which would hold back vacuum, and to a connection of its
 * own, which is closed in the end: whatever happens to the work or to this process, it never outlives them.
 */
export async function tryRunUnderLock(
  database: Database,
  name: string,
  work: (holder: Queries) => Promise<unknown>,
  limits: { statementTimeoutMs?: number } = { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
): Promise<boolean> {
  const key = sql`hashtextextended(${`portico ${name}`}, 0)`;
  const run = (queries: Queries) =>
    queries.connection().execute(async (holder) => {
      const { rows } = await sql<{ locked: boolean }>`
        select pg_try_advisory_lock(${key}) as locked,
          set_config('tcp_keepalives_idle', ${KEEPALIVE.idle}, false),
          set_config('tcp_keepalives_interval', ${KEEPALIVE.interval}, false),
          set_config('tcp_keepalives_count', ${KEEPALIVE.count}, false)`.execute(holder);
      if (!rows[0]?.locked) return false;
      await work(holder);
      // Closing the connection would do, but not before this returns.
      await sql`select pg_advisory_unlock(${key})`.execute(holder);
      return true;
    });
  return database.maintain(run, limits);
}
