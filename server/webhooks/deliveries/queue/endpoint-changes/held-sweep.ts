import type { Database } from '../../../../infrastructure/database/database.ts';
import { type Clock, later } from '../../../../infrastructure/runtime/clock.ts';
import { firstGuidAt, NIL_GUID } from '../../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../../infrastructure/runtime/metrics.ts';
import type { Subscriptions } from '../../../subscriptions/service.ts';
import { RETRY_PERIOD_MS } from '../../sending/schedule.ts';
import { failBatch } from '../fail-batch.ts';

/** Subscriptions of one statement. */
const PAGE = 200;

type Deps = { database: Database; clock: Clock; log: Log; metrics: Metrics; subscriptions: Subscriptions };

/**
 * Deliveries that wait for the end of a pause or for the first 2xx of an endpoint have no attempt that could end them, so
 * a task fails them after seven days.
 */
export function createHeldSweep({ database, clock, log, metrics, subscriptions }: Deps) {
  async function failOverdue(subscriptionGuid: string, at: Date): Promise<number> {
    const before = firstGuidAt(weekBefore(at));
    let total = 0;
    const provided = subscriptions.isHolding(subscriptionGuid);
    let after: string | undefined = NIL_GUID;
    while (after !== undefined) {
      const { failed, reached } = await failBatch(database, subscriptionGuid, at, {
        provided,
        after,
        before,
      });
      total += failed;
      after = reached;
    }
    if (total === 0) return 0;
    const about = { subscription_guid: subscriptionGuid, deliveries: total };
    log.info(about, 'failed deliveries that waited for seven days');
    metrics.deliveries.inc({ state: 'failed' }, total);
    return total;
  }

  return {
    /** Fails held deliveries that were created seven days ago; returns their number. */
    async sweepHeld(): Promise<number> {
      const at = clock.now();
      let total = 0;
      let page: string[];
      let after = NIL_GUID;
      do {
        page = await subscriptions.holdingAfter(after, { createdBefore: weekBefore(at), limit: PAGE });
        for (const guid of page) total += await failOverdue(guid, at);
        after = page.at(-1) ?? after;
      } while (page.length === PAGE);
      return total;
    },
  };
}

const weekBefore = (at: Date) => later(at, -RETRY_PERIOD_MS);
