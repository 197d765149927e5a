import type { Transaction } from '../../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../../infrastructure/database/planner.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Enqueue, EventContent } from '../enqueue.ts';
import { withoutFirst } from '../first-deliveries.ts';
import { endHolds } from '../first-store.ts';

/** An endpoint that is tried at most 20 times a second rarely has more; the others wait for their Retry-After. */
const MAX_RETRIES_READ = 10_000;

type Deps = { clock: Clock; enqueueEach: Enqueue['enqueueEach'] };

/** The queue for changes of subscriptions. */
export function createFirstEvents({ clock, enqueueEach }: Deps) {
  return {
    withoutFirst,

    /** Enqueues the first events of endpoints; returns the deliveries by subscription. */
    async enqueueFirst(
      transaction: Transaction,
      firsts: readonly (readonly [Endpoint, EventContent])[],
    ): Promise<ReadonlyMap<string, string>> {
      const deliveries = await enqueueEach(
        transaction,
        // Only an endpoint without a first delivery is announced to the dispatchers; the others wait.
        firsts.map(([endpoint, event]) => [{ ...endpoint, firstOnly: { deliveryGuid: undefined } }, [event]]),
      );
      return new Map(deliveries.map(({ subscriptionGuid, guid }) => [subscriptionGuid, guid]));
    },

    /** No Retry-After of the old URL holds deliveries back from the new one. */
    async endHolds(transaction: Transaction, subscriptionGuid: string): Promise<void> {
      await preferIndexes(transaction);
      await endHolds(transaction, subscriptionGuid, { now: clock.now(), limit: MAX_RETRIES_READ });
    },
  };
}
