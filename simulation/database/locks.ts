import type pg from 'pg';
import { settledWithin } from '../machine/rest.ts';
import type { Backend, Executed } from './backend.ts';

/** Recognises statements that wait for a lock of another transaction. */
const LOCK_CHECK_AFTER_MS = 2;

/** Undefined when the statement waits for a lock. Nothing else runs on the server, so it would wait for ever. */
export async function executedUnlessBlocked(
  side: pg.Client,
  { processId }: Backend,
  executing: Promise<Executed>,
): Promise<Executed | undefined> {
  for (;;) {
    const executed = await settledWithin(LOCK_CHECK_AFTER_MS, executing);
    if (executed) return executed;
    const { rows } = await side.query('select pg_blocking_pids($1) as pids', [processId]);
    if (rows[0].pids.length > 0) return undefined;
  }
}

export async function assertNoDeadlock(side: pg.Client): Promise<void> {
  const { rows } = await side.query(
    `with recursive waits as (
       select pid, unnest(pg_blocking_pids(pid)) as holder from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
     ), path as (
       select pid, holder from waits union select path.pid, waits.holder from path join waits on waits.pid = path.holder
     ) select 1 from path where pid = holder limit 1`,
  );
  if (rows.length > 0) throw new Error('deadlock between transactions');
}
