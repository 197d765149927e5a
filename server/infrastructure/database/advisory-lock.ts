import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';

/**
 * A host that loses power does not close its connections. The server probes after 30 seconds of silence instead of two
 * hours, and releases the lock when there is no answer.
 */
const KEEPALIVE = { idle: '30', interval: '10', count: '3' };
/** For statements on the lock's connection; the work itself runs on the pool. */
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * Runs the work unless another process holds the lock of this name; returns whether it ran. The lock avoids double work
 * but does not exclude it: when its connection breaks, another process may start before this one ends. The lock belongs
 * to a session without an open transaction, which would hold back vacuum, and to a connection of its own, so it never
 * outlives the process.
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
      // Closing the connection releases the lock too, but only after this returns.
      await sql`select pg_advisory_unlock(${key})`.execute(holder);
      return true;
    });
  return database.maintain(run, limits);
}
