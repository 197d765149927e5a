import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Delivery, DeliveryBatch, Outcome } from '../delivery.ts';
import { completeBatched } from '../recording/record-store.ts';
import { deleteBatches, enqueueBatched, lockBatches, named } from './batch-store.ts';

/** The outcomes of deliveries that are under a batch, as far as it was not dissolved meanwhile. */
export type BatchedOutcomes = {
  completed: readonly Outcome[];
  failed: readonly Delivery[];
  /** Batches of which nothing is left after these outcomes. */
  finished: readonly string[];
};

/** Locks the batches of these outcomes. The deliveries of those that are gone are like any other now. */
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
  const there = new Set(await lockBatches(transaction, named(guids)));
  const ours = [...byBatch].filter(([{ guid }]) => there.has(guid));
  const all = ours.flatMap(([, own]) => own);
  return {
    completed: all.filter(({ result }) => result === 'completed'),
    failed: all.filter(({ result }) => result !== 'completed').map(({ delivery }) => delivery),
    finished: ours.filter(([{ left }, own]) => left === own.length).map(([{ guid }]) => guid),
  };
}

/**
 * Failures get their place in the queue, successes are written without a look at it, and a batch of which
 * nothing is left goes. Returns the successes that were written before.
 */
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

/** These are written down for good. */
export function markRecorded(outcomes: readonly Outcome[]): void {
  for (const { delivery } of outcomes) if (delivery.batch) delivery.batch.left -= 1;
}

const NONE: BatchedOutcomes = { completed: [], failed: [], finished: [] };
const NOTHING: ReadonlySet<string> = new Set();
