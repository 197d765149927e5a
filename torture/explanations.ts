import type { Duplicate } from './comparison.ts';
import type { FaultKind, NodeName } from './plan.ts';

/** A fault as it happened, in real time. */
export type PastFault = { kind: FaultKind; nodes: readonly NodeName[]; from: number; to: number };

/**
 * Without a fault an outcome is recorded within a second of its arrival: up to 300 ms until a slow endpoint answers, 15 ms
 * to gather a batch, one transaction. The rest is for a busy machine.
 */
const RECORDED_WITHIN_MS = 5_000;
/** Sent before a kill, logged by the receiver shortly after. */
const SLACK_MS = 1_000;
/** Broken connections are replaced at once, on a busy machine within some seconds. */
const RECONNECTED_AFTER_MS = 5_000;
/** Silent connections are given up: 5 s between checks, 20 s for an answer. */
const GIVEN_UP_AFTER_MS = 25_000;

/**
 * When a dispatcher that it met could record outcomes again. A kill loses only outcomes that were not yet recorded; any
 * other fault may delay them for as long as it lasts.
 */
function endOf({ kind, from, to }: PastFault): number {
  if (kind === 'kill') return from;
  return to + (kind.startsWith('stall') ? GIVEN_UP_AFTER_MS : RECONNECTED_AFTER_MS);
}

/**
 * A duplicate is explained by a fault of a dispatcher that kept the outcome of the first arrival from being recorded. Each
 * dispatcher counts, not only the sender: a stalled transaction of one blocks those of others by its row locks. A fault
 * that begins later than RECORDED_WITHIN_MS explains none, unless an earlier one had delayed the outcome, which is then
 * the explanation itself. A SIGTERM explains none, because a process records its outcomes before it ends.
 */
export function explain({ first, again }: Duplicate, faults: readonly PastFault[]): PastFault | undefined {
  const candidates = faults.filter(
    (fault) =>
      fault.kind !== 'terminate' &&
      fault.nodes.some((name) => name.startsWith('dispatch')) &&
      fault.from <= Math.min(again, first + RECORDED_WITHIN_MS) &&
      endOf(fault) + SLACK_MS >= first,
  );
  // The nearest to the first arrival: that one was not recorded.
  const distance = (fault: PastFault) => Math.max(0, fault.from - first, first - endOf(fault));
  return candidates.sort((one, other) => distance(one) - distance(other))[0];
}

export function explainAll(duplicates: readonly Duplicate[], faults: readonly PastFault[]) {
  const explained = duplicates.map((duplicate) => ({ duplicate, fault: explain(duplicate, faults) }));
  const byKind = new Map<FaultKind, number>();
  for (const { fault } of explained) if (fault) byKind.set(fault.kind, (byKind.get(fault.kind) ?? 0) + 1);
  return {
    byKind,
    unexplained: explained.filter(({ fault }) => !fault).map(({ duplicate }) => duplicate),
  };
}
