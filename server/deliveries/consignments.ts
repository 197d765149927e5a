import type { Transaction } from '../database/database.ts';
import { deleteConsignments, enqueueConsigned, holdConsignments, named } from './consignment-store.ts';
import type { Consignment, Outcome } from './delivery.ts';
import { completeConsigned } from './record-store.ts';

/**
 * Writes down what became of deliveries that travel under a consignment: successes without a look at the queue, while
 * failures get their place in it, and a consignment of which nothing is left goes. Gives the successes that it wrote.
 * The others are of consignments that were dissolved meanwhile, and their deliveries are like any other now.
 */
export async function settleConsigned(
  transaction: Transaction,
  outcomes: readonly Outcome[],
  holder: string,
): Promise<ReadonlySet<Outcome>> {
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
  const completed = all.filter(({ result }) => result === 'completed');
  const failed = all.filter(({ result }) => result !== 'completed').map(({ delivery }) => delivery);
  const finished = ours.filter(([{ left }, own]) => left === own.length).map(([{ guid }]) => guid);
  await Promise.all([
    completed.length > 0 && completeConsigned(transaction, completed),
    failed.length > 0 && enqueueConsigned(transaction, holder, failed),
    finished.length > 0 && deleteConsignments(transaction, finished),
  ]);
  return new Set(completed);
}

/** These are written down for good. */
export function noteSettled(outcomes: readonly Outcome[]): void {
  for (const { delivery } of outcomes) if (delivery.consignment) delivery.consignment.left -= 1;
}

const NONE: ReadonlySet<Outcome> = new Set();
