import type { Duplicate } from './comparison.ts';
import type { FaultKind } from './plan.ts';

/** A fault as it happened, in real time. */
export type PastFault = { kind: FaultKind; from: number; to: number; text: string };

/** Sent before a kill, logged by the receiver shortly after. */
const SLACK_MS = 1_000;
/** Silent connections are given up this long after a fault of the database: 5 s between checks, 20 s for an answer. */
const GIVE_UP_MS = 25_000;
/** Only then is the outcome recorded, or the lease found lost. */
const AFTERMATH_MS = 45_000;

/**
 * A duplicate is explained by a fault between its two arrivals that kept the first outcome from being recorded. A
 * SIGTERM explains none, because a process records its outcomes before it ends.
 */
export function explain({ first, again }: Duplicate, faults: readonly PastFault[]): PastFault | undefined {
  const lasts = ({ kind, from, to }: PastFault, afterMs: number) => (kind === 'kill' ? from : to + afterMs);
  const candidates = faults.filter(
    (fault) =>
      fault.kind !== 'terminate' && fault.from <= again && lasts(fault, AFTERMATH_MS) + SLACK_MS >= first,
  );
  // The nearest to the first arrival: that one was not recorded.
  const distance = (fault: PastFault) => Math.max(0, fault.from - first, first - lasts(fault, GIVE_UP_MS));
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
