import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Consignment, Delivery, Outcome } from '../delivery.ts';
import { completeConsigned } from '../recording/record-store.ts';
import { deleteConsignments, enqueueConsigned, holdConsignments, named } from './batch-store.ts';

/** The outcomes of deliveries that are under a consignment, as far as it was not dissolved meanwhile. */
export type Consigned = {
  completed: readonly Outcome[];
  failed: readonly Delivery[];
  /** Consignments of which nothing is left after these outcomes. */
  finished: readonly string[];
};

/** Locks the consignments of these outcomes. The deliveries of those that are gone are like any other now. */
export async function holdConsigned(
  transaction: Transaction,
  outcomes: readonly Outcome[],
): Promise<Consigned> {
  const byConsignment = new Map<Consignment, Outcome[]>();
  for (const outcome of outcomes) {
    const { consignment } = outcome.delivery;
    if (!consignment) continue;
    const known = byConsignment.get(consignment);
    if (known) known.push(outcome);
    else byConsignment.set(consignment, [outcome]);
  }
  if (byConsignment.size === 0) return NONE;
  const guids = Array.from(byConsignment.keys(), ({ guid }) => guid);
  const there = new Set(await holdConsignments(transaction, named(guids)));
  const ours = [...byConsignment].filter(([{ guid }]) => there.has(guid));
  const all = ours.flatMap(([, own]) => own);
  return {
    completed: all.filter(({ result }) => result === 'completed'),
    failed: all.filter(({ result }) => result !== 'completed').map(({ delivery }) => delivery),
    finished: ours.filter(([{ left }, own]) => left === own.length).map(([{ guid }]) => guid),
  };
}

/**
 * Failures get their place in the queue, successes are written without a look at it, and a consignment of which
 * nothing is left goes. Returns the successes that were written before.
 */
export async function settleConsigned(
  transaction: Transaction,
  { completed, failed, finished }: Consigned,
  holder: string,
): Promise<ReadonlySet<string>> {
  const [, repeated] = await Promise.all([
    failed.length > 0 && enqueueConsigned(transaction, holder, failed),
    completed.length > 0 ? completeConsigned(transaction, completed) : NOTHING,
    finished.length > 0 && deleteConsignments(transaction, finished),
  ]);
  return repeated;
}

/** These are written down for good. */
export function noteSettled(outcomes: readonly Outcome[]): void {
  for (const { delivery } of outcomes) if (delivery.consignment) delivery.consignment.left -= 1;
}

const NONE: Consigned = { completed: [], failed: [], finished: [] };
const NOTHING: ReadonlySet<string> = new Set();
