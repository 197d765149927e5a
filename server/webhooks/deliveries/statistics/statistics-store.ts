import { sql } from 'kysely';
import { uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries } from '../../../infrastructure/database/database.ts';
import type { Window } from '../../events/counters.ts';
import { RESPONSE_TIME_BOUNDS_MS } from '../recording/counters.ts';

/** Counts of one subscription in one step of a window. */
export type StepCounts = {
  subscription_guid: string;
  at: Date;
  completed: number;
  completed_by_retry: number;
  failed: number;
  failed_attempts: number;
  timeouts: number;
  response_times: number[];
};

/** Summed by bucket: unnest and array_agg cost ten times as much. */
const SUMMED_RESPONSE_TIMES = sql.join(
  Array.from(
    { length: RESPONSE_TIME_BOUNDS_MS.length + 1 },
    (_, bucket) => sql`sum(response_times[${sql.lit(bucket + 1)}])::int`,
  ),
);

/** Reads the per-minute counters, so the cost does not depend on the number of deliveries. Omits empty steps. */
export async function selectStepCounts(
  queries: Queries,
  subscriptionGuids: readonly string[],
  { from, to, stepSeconds }: Window,
): Promise<StepCounts[]> {
  const { rows } = await sql<StepCounts>`
    select subscription_guid, date_bin(make_interval(secs => ${stepSeconds}), minute, ${from}::timestamptz) as at,
           sum(completed) as completed, sum(completed_by_retry) as completed_by_retry, sum(failed) as failed,
           sum(failed_attempts) as failed_attempts, sum(timeouts) as timeouts,
           array[${SUMMED_RESPONSE_TIMES}] as response_times
    from delivery_counters
    where subscription_guid = any(${uuidArray(subscriptionGuids)})
      and minute >= ${from} and minute < ${to}
    group by 1, 2`.execute(queries);
  return rows;
}
