import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { countFailed } from '../recording/counters.ts';
import { addCounts } from '../recording/record-store.ts';
import { type FailedBatch, failWaiting, type WaitingRange } from './queue-store.ts';

/** Deliveries of one transaction. */
const BATCH = 1_000;

/** Fails a batch of the waiting deliveries of a subscription, and counts them. */
export function failBatch(
  database: Database,
  subscriptionGuid: string,
  at: Date,
  range: WaitingRange,
): Promise<FailedBatch> {
  return database.transaction(async (transaction) => {
    await preferIndexes(transaction);
    const batch = await failWaiting(transaction, subscriptionGuid, { at, limit: BATCH, ...range });
    if (batch.failed > 0) await addCounts(transaction, [countFailed(subscriptionGuid, at, batch.failed)]);
    return batch;
  });
}
