import { periodMs } from '../../server/infrastructure/database/partitions/periods.ts';
import { timeOf } from '../machine/guids.ts';
import type { World } from '../world/world.ts';

/** History older than the retention is gone, by whole partitions, and nothing else is. */
const DAY_MS = 24 * 3_600_000;
/** Weeks begin on Monday; the epoch was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
/** A guid has the clock of its node. */
const SKEW_MS = 5_000;

/** What was created before may be gone. */
export function expiredBefore({ scheduler, config }: World): number {
  const expiredAt = scheduler.now() - config.retentionDays * DAY_MS;
  const length = periodMs(config.retentionDays);
  return FIRST_MONDAY_MS + Math.floor((expiredAt - FIRST_MONDAY_MS) / length) * length;
}

export async function checkRetention(world: World): Promise<void> {
  const { side, model } = world;
  const boundary = expiredBefore(world);
  for (const [table, guid] of [
    ['events', 'guid'],
    ['deliveries', 'guid'],
    ['delivery_attempts', 'delivery_guid'],
  ]) {
    const { rows } = await side.query<{ guid: string | null }>(
      `select replace(min(${guid}::text), '-', '') as guid from ${table}`,
    );
    const first = rows[0]?.guid;
    model.check(
      !first || timeOf(first) >= boundary,
      () => `${table} has ${first}, which is older than the retention`,
    );
  }
  const { rows: events } = await side.query<{ guid: string }>(
    "select replace(guid::text, '-', '') as guid from events",
  );
  const stored = new Set(events.map(({ guid }) => guid));
  for (const { guid, acknowledgedAt } of model.events.values())
    model.check(
      stored.has(guid) || acknowledgedAt === undefined || timeOf(guid) < boundary + SKEW_MS,
      () => `event ${guid} is gone before its retention`,
    );
  const { rows: queued } = await side.query<{ guid: string }>(
    `select delivery_guid::text as guid from delivery_queue as q
     where not exists (select 1 from deliveries as d where d.guid = q.delivery_guid) limit 1`,
  );
  model.check(queued.length === 0, () => `the delivery ${queued[0]?.guid} is in the queue only`);
}
