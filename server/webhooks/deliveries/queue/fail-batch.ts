import type { RawBuilder } from 'kysely';
import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { countFailed } from '../recording/counters.ts';
import { addCounts } from '../recording/record-store.ts';
import { type FailedBatch, failWaiting } from './queue-store.ts';

/** Deliveries of one transaction. */
const BATCH = 1_000;

type Which = { at: Date; provided: RawBuilder<boolean>; after: string; before?: string };

/** Fails a batch of the waiting deliveries of a subscription, and counts them. */
export function failBatch(
  database: Database,
  subscriptionGuid: string,
  { at, ...which }: Which,
): Promise<FailedBatch> {
  return database.transaction(async (transaction) => {
    await preferIndexes(transaction);
    const batch = await failWaiting(transaction, subscriptionGuid, { at, limit: BATCH, ...which });
    if (batch.failed > 0) await addCounts(transaction, [countFailed(subscriptionGuid, at, batch.failed)]);
    return batch;
  });
}
