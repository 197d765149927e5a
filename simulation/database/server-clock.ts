import type pg from 'pg';

/**
 * One function of the database looks at the server's clock: it refuses to drop young partitions, whatever the service
 * says. In virtual time every partition is old enough for it; the service's own rule is the one that is simulated.
 */
export async function ignoreServerClock(side: pg.Client): Promise<void> {
  await side.query(`do $$ begin
    execute replace(pg_get_functiondef('drop_partition(text, text, integer)'::regprocedure),
      'clock_timestamp()', '''infinity''::timestamptz');
  end $$`);
}
