import { sql } from 'kysely';
import type { Queries } from '../../../infrastructure/database/database.ts';
import type { Observed } from './timeline.ts';

const HEALTH = sql`
  case when sum(failed_attempts) = 0 then 'healthy' when sum(completed) = 0 then 'failing' else 'partly_failing' end`;

/** Health in each interval that has attempts, oldest first. */
export async function selectObserved(
  queries: Queries,
  subscriptionGuid: string,
  { from, to, intervalSeconds }: { from: Date; to: Date; intervalSeconds: number },
): Promise<Observed[]> {
  const { rows } = await sql<Observed>`
    select date_bin(make_interval(secs => ${intervalSeconds}), minute, ${from}::timestamptz) as at, ${HEALTH} as health
    from delivery_counters
    where subscription_guid = ${subscriptionGuid} and minute >= ${from} and minute < ${to}
      and completed + failed_attempts > 0
    group by 1 order by 1`.execute(queries);
  return rows;
}

/** Health in the last minute with attempts before `moment`. */
export async function selectObservedBefore(
  queries: Queries,
  subscriptionGuid: string,
  moment: Date,
): Promise<Observed['health'] | undefined> {
  const { rows } = await sql<Pick<Observed, 'health'>>`
    select ${HEALTH} as health from (
      select completed, failed_attempts from delivery_counters
      where subscription_guid = ${subscriptionGuid} and minute < ${moment} and completed + failed_attempts > 0
      order by minute desc limit 1
    ) as newest having count(*) > 0`.execute(queries);
  return rows[0]?.health;
}
