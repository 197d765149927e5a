import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery, DeliveryBatch, Outcome } from '../delivery.ts';
import { completeBatched } from '../recording/record-store.ts';
import { deleteBatches, enqueueBatched, lockBatches, named } from './batch-store.ts';

/** Outcomes of deliveries whose batch was not requeued in the meantime. */
export type BatchedOutcomes = {
  completed: readonly Outcome[];
  failed: readonly Delivery[];
  /** Batches that are complete with these outcomes. */
  finished: readonly string[];
};

/** Locks the batches of these outcomes. Deliveries whose batch is gone have queue rows by now. */
export async function lockBatchesOf(
  transaction: Transaction,
  outcomes: readonly Outcome[],
): Promise<BatchedOutcomes> {
  const byBatch = new Map<DeliveryBatch, Outcome[]>();
  for (const outcome of outcomes) {
    const { batch } = outcome.delivery;
    if (!batch) continue;
    const known = byBatch.get(batch);
    if (known) known.push(outcome);
    else byBatch.set(batch, [outcome]);
  }
  if (byBatch.size === 0) return NONE;
  const guids = Array.from(byBatch.keys(), ({ guid }) => guid);
  const locked = new Set(await lockBatches(transaction, named(guids)));
  const ours = [...byBatch].filter(([{ guid }]) => locked.has(guid));
  const all = ours.flatMap(([, own]) => own);
  return {
    completed: all.filter(({ result }) => result === 'completed'),
    failed: all.filter(({ result }) => result !== 'completed').map(({ delivery }) => delivery),
    finished: ours.filter(([{ left }, own]) => left === own.length).map(([{ guid }]) => guid),
  };
}

/** Enqueues failures for a retry, records successes and deletes finished batches. Returns repeated successes. */
export async function recordBatched(
  transaction: Transaction,
  { completed, failed, finished }: BatchedOutcomes,
  holder: string,
): Promise<ReadonlySet<string>> {
  const [, repeated] = await Promise.all([
    failed.length > 0 && enqueueBatched(transaction, holder, failed),
    completed.length > 0 ? completeBatched(transaction, completed) : NOTHING,
    finished.length > 0 && deleteBatches(transaction, finished),
  ]);
  return repeated;
}

/** To be called after the commit. */
export function markRecorded(outcomes: readonly Outcome[]): void {
  for (const { delivery } of outcomes) if (delivery.batch) delivery.batch.left -= 1;
}

const NONE: BatchedOutcomes = { completed: [], failed: [], finished: [] };
const NOTHING: ReadonlySet<string> = new Set();
