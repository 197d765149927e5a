import { type Answer, answersDuring, type Outage, problemOf } from './answers.ts';
import type { Comparison } from './comparison.ts';
import { explainAll, type PastFault } from './explanations.ts';
import type { End } from './portico-process.ts';
import type { Sent } from './sent.ts';

/** A start fails while the database is away, and for some time after a stall. */
const START_AFTERMATH_MS = 30_000;
/** Share of what was sent, and at least one: a run that accepted next to nothing could not lose anything. */
const MIN_ACKNOWLEDGED = 0.1;
const SHOWN = 5;

export type Evidence = {
  sent: Sent;
  comparison: Comparison;
  answers: readonly Answer[];
  faults: readonly PastFault[];
  outages: readonly Outage[];
  ends: readonly End[];
  /** Deliveries and transfers that were unfinished when the time for draining was over. */
  waiting: number;
  /** Calls of insisting clients without a 2xx, though all faults were over. */
  neverAccepted: number;
};

/** Every way in which a run fails; empty if all promises were kept. */
export function problemsIn(evidence: Evidence): string[] {
  const { sent, comparison, answers, faults, outages, ends, waiting, neverAccepted } = evidence;
  const list = (what: string, found: readonly string[]) =>
    found.length === 0
      ? []
      : [`${found.length} ${what}: ${found.slice(0, SHOWN).join(', ')}${found.length > SHOWN ? ', …' : ''}`];
  const { accepted, refused } = answersDuring(answers, outages);
  const { unexplained } = explainAll(comparison.duplicates, faults);
  return [
    ...list('accepted and lost', comparison.lost),
    ...list("delivered to another Organization's endpoint", comparison.misrouted),
    ...list('with an invalid signature', comparison.forged),
    ...list('with changed content', comparison.altered),
    ...list('never sent', comparison.unexpected),
    ...list(
      'duplicates without a fault that explains them',
      unexplained.map(({ path, guid }) => `${path} ${guid}`),
    ),
    ...list(
      'wrong answers',
      answers.map(problemOf).filter((problem) => problem !== undefined),
    ),
    ...list(
      'calls accepted while PostgreSQL was stopped',
      accepted.map(({ call }) => call),
    ),
    ...(outages.length > 0 && refused === 0 ? ['no call was answered while PostgreSQL was stopped'] : []),
    ...list('processes ended wrongly', wrongEnds(ends, faults)),
    ...tooFew('events', sent.events),
    ...tooFew('transfers', sent.transfers),
    ...(waiting > 0 ? [`${waiting} deliveries or transfers were not finished in time`] : []),
    ...(neverAccepted > 0 ? [`${neverAccepted} calls were never accepted`] : []),
  ];
}

function tooFew(what: string, sent: Sent['events'] | Sent['transfers']): string[] {
  const acknowledged = sent.filter(({ fate }) => fate === 'acknowledged').length;
  const least = Math.max(1, Math.ceil(sent.length * MIN_ACKNOWLEDGED));
  return acknowledged < least
    ? [`only ${acknowledged} of ${sent.length} ${what} were acknowledged, at least ${least} are needed`]
    : [];
}

/** A process may refuse to start without its database, but one that serves survives its absence. */
function wrongEnds(ends: readonly End[], faults: readonly PastFault[]): string[] {
  return ends
    .filter(({ at, cause, code, wasServing }) => {
      if (cause === 'kill') return false;
      if (cause === 'terminate' && code === 0) return false;
      if (cause === 'deadline' || wasServing) return true;
      return !faults.some(
        ({ kind, from, to }) =>
          kind !== 'kill' && kind !== 'terminate' && from <= at && at <= to + START_AFTERMATH_MS,
      );
    })
    .map(({ node, cause, code, signal }) => `${node} (${cause}, ${code ?? signal})`);
}
