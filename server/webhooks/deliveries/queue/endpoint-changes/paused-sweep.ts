import type { Database } from '../../../../infrastructure/database/database.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import { firstGuidAt, NIL_GUID } from '../../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../../infrastructure/runtime/metrics.ts';
import type { Subscriptions } from '../../../subscriptions/service.ts';
import { RETRY_PERIOD_MS } from '../../sending/schedule.ts';
import { failBatch } from '../fail-batch.ts';

/** Subscriptions of one statement. */
const PAGE = 200;

type Deps = { database: Database; clock: Clock; log: Log; metrics: Metrics; subscriptions: Subscriptions };

/** Deliveries of a paused subscription have no attempt that could end them, so a task fails them after seven days. */
export function createPausedSweep({ database, clock, log, metrics, subscriptions }: Deps) {
  async function failOverdue(subscriptionGuid: string): Promise<number> {
    const at = clock.now();
    const before = firstGuidAt(new Date(at.getTime() - RETRY_PERIOD_MS));
    let total = 0;
    const provided = subscriptions.isPaused(subscriptionGuid);
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
    log.info(about, 'failed deliveries that waited for seven days in a pause');
    metrics.deliveries.inc({ state: 'failed' }, total);
    return total;
  }

  return {
    /** Fails deliveries of paused subscriptions that were created seven days ago; returns their number. */
    async sweepPaused(): Promise<number> {
      let total = 0;
      let page: string[];
      let after = NIL_GUID;
      do {
        page = await subscriptions.pausedAfter(after, PAGE);
        for (const guid of page) total += await failOverdue(guid);
        after = page.at(-1) ?? after;
      } while (page.length === PAGE);
      return total;
    },
  };
}
