import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { firstGuidAt, timeOfGuid } from '../../../infrastructure/runtime/guid.ts';
import { selectWaitingOf } from './waiting-store.ts';

/** Deliveries that have neither arrived nor failed for good, whether they were tried or not. */
export type Waiting = {
  /** Exact below `MAX_COUNTED_WAITING`, which stands for that many or more. */
  count: number;
  /** Of these, created more than `LATE_AFTER_MS` ago. */
  lateCount: number;
  /** Creation of the oldest; undefined when none waits. */
  oldestAt: Date | undefined;
};

/** Bounds the index entries that are read for one subscription. */
export const MAX_COUNTED_WAITING = 10_000;
/** A delivery on its way is not late. The first retries come within this time too. */
const LATE_AFTER_MS = 10_000;

/** By subscription guid; every requested subscription has an entry. */
export async function readWaiting(
  { database, clock }: { database: Database; clock: Clock },
  subscriptionGuids: readonly string[],
): Promise<Map<string, Waiting>> {
  if (subscriptionGuids.length === 0) return new Map();
  const now = clock.now();
  const lateBefore = firstGuidAt(new Date(now.getTime() - LATE_AFTER_MS));
  const rows = await database.transaction(async (transaction) => {
    await preferIndexes(transaction);
    return selectWaitingOf(transaction, subscriptionGuids, { limit: MAX_COUNTED_WAITING, lateBefore });
  });
  return new Map(
    rows.map(({ subscriptionGuid, waiting, late, oldestGuid }) => [
      subscriptionGuid,
      {
        count: waiting,
        lateCount: late,
        oldestAt: oldestGuid === null ? undefined : earlier(timeOfGuid(oldestGuid), now),
      },
    ]),
  );
}

/** Guids run ahead of the clock under load. */
function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
