import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import { failBatch } from './fail-batch.ts';
import { createPace } from './pace.ts';

/** The pauses leave the database to the deliveries of others. */
const PACE = { pausePerRun: 4, maxPauseMs: 10_000 };

type Deps = { database: Database; clock: Clock; log: Log; metrics: Metrics; subscriptions: Subscriptions };

/**
 * Fails the waiting deliveries of subscriptions that are failed, disabled or deleted, one batch per poll: a large backlog
 * must not delay the claims of others.
 */
export function createEndedSubscriptions({ database, clock, log, metrics, subscriptions }: Deps) {
  /** Subscriptions in turn, each with the last delivery of its previous batch. */
  const ended = new Map<string, string>();
  const pace = createPace(clock, PACE);

  /** Returns the number of failed deliveries. */
  async function failSomeOf(subscriptionGuid: string, after: string): Promise<number> {
    // Leased and locked deliveries are skipped; the next walk finds those that are left.
    ended.delete(subscriptionGuid);
    const at = clock.now();
    const provided = subscriptions.hasEnded(subscriptionGuid, at);
    const { failed, reached } = await failBatch(database, subscriptionGuid, at, { provided, after });
    if (reached !== undefined) ended.set(subscriptionGuid, reached);
    if (failed > 0)
      log.info(
        { subscription_guid: subscriptionGuid, deliveries: failed },
        'failed the waiting deliveries of a subscription that no longer delivers',
      );
    metrics.deliveries.inc({ state: 'failed' }, failed);
    return failed;
  }

  return {
    add(subscriptionGuid: string): void {
      if (!ended.has(subscriptionGuid)) ended.set(subscriptionGuid, NIL_GUID);
    },

    /** Fails one batch, unless the last one was too recent. */
    async failSome(): Promise<{ failed: number; nextAt: Date | undefined }> {
      const [next] = ended;
      if (!next) return { failed: 0, nextAt: undefined };
      const isPaused = pace.pausedUntil() !== undefined;
      const failed = isPaused ? 0 : await pace.run(() => failSomeOf(...next));
      return { failed, nextAt: ended.size > 0 ? (pace.pausedUntil() ?? clock.now()) : undefined };
    },
  };
}
