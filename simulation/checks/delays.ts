import type { World } from '../world/world.ts';

/** Invariant 3, the other side of `checkSend`: no retry is scheduled later than the specification says. */
const JITTER = 0.1;
/** Clocks of the nodes that recorded the failure and created the delivery. */
const CLOCKS_MS = 3_000;

export async function checkDelays({ side, model, config }: World): Promise<void> {
  const { rows } = await side.query<{ guid: string; number: number; delay: number }>(
    // Later than the failure: the endpoint asked for a pause, or an early retry has failed.
    `select replace(d.guid::text, '-', '') as guid, d.attempt_count as number,
       extract(epoch from q.due_at - d.updated_at)::float8 * 1000 as delay
     from delivery_queue as q join deliveries as d
       on d.subscription_guid = q.subscription_guid and d.guid = q.delivery_guid
     where q.leased_by is null and d.attempt_count > 0
       and q.due_at - d.updated_at > make_interval(secs => case
         when q.scheduled_at > d.updated_at then $1::float8
         else coalesce((array[2, 4, 8])[d.attempt_count], $1::float8) end + $2::float8)
     limit 1`,
    [(config.retryMaxDelayMs * (1 + JITTER)) / 1_000, CLOCKS_MS / 1_000],
  );
  model.check(
    rows.length === 0,
    () => `the retry of ${rows[0]?.guid} after attempt ${rows[0]?.number} waits ${rows[0]?.delay} ms`,
  );
}
