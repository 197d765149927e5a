import type { Transaction } from '../../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../../infrastructure/database/planner.ts';
import type { Clock } from '../../../../infrastructure/runtime/clock.ts';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Enqueue, EventContent } from '../enqueue.ts';
import { endHolds } from '../first-store.ts';

/** An endpoint that is tried at most 20 times a second rarely has more; the others wait for their Retry-After. */
const MAX_ENDED_HOLDS = 10_000;

export function createNewUrl({ clock, enqueueFor }: { clock: Clock; enqueueFor: Enqueue['enqueueFor'] }) {
  return {
    /** Enqueues the first event of a new URL, which no Retry-After of the old one holds back; returns its delivery. */
    async enqueueFirst(transaction: Transaction, endpoint: Endpoint, event: EventContent): Promise<string> {
      await preferIndexes(transaction);
      await endHolds(transaction, endpoint.guid, { now: clock.now(), limit: MAX_ENDED_HOLDS });
      const [delivery] = await enqueueFor(transaction, endpoint, [event]);
      if (!delivery) throw new Error('the first delivery was not created');
      return delivery.guid;
    },
  };
}
