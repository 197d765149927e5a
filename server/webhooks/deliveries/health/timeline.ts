import type { PeriodHealth, TimelineChange, TimelineChangeKind } from './health-states.ts';

/** The health by the attempts of some minutes; absent for minutes without attempts. */
export type Observed = {
  at: Date;
  health: Extract<PeriodHealth, 'healthy' | 'partly_failing' | 'failing'>;
  /** Recorded as a recovery, however short the failures were. */
  isRecovery?: boolean;
};
export type Period = { from: Date; to: Date; health: PeriodHealth };

/** States that decide the health regardless of the attempts, the first one of those in effect, as in `health.ts`. */
const STOPS = ['failed', 'disabled', 'paused'] as const satisfies PeriodHealth[];
type Stop = (typeof STOPS)[number];
const ENDS: Partial<Record<TimelineChangeKind, Stop>> = { enabled: 'disabled', resumed: 'paused' };

type Input = {
  from: Date;
  to: Date;
  before: PeriodHealth;
  observed: readonly Observed[];
  /** Oldest first. Those before `from` only count for the stops in effect at `from`. */
  changes: readonly TimelineChange[];
};

type Known = { intervalMs: number; failingSince: Date | null; recoveredAt: Date | null };

/** Replaces the intervals in which the newest failures began and ended by the recorded times. */
export function withKnownTimes(
  observed: readonly Observed[],
  { intervalMs, failingSince, recoveredAt }: Known,
): Observed[] {
  const isWithin = ({ at }: Observed, moment: Date | null) =>
    moment !== null && at <= moment && moment.getTime() < at.getTime() + intervalMs;
  const kept = observed.filter((each, index) => {
    if (failingSince && each.at > failingSince) return false;
    if (isWithin(each, failingSince)) return each.health !== 'failing';
    return !(isWithin(each, recoveredAt) && observed[index - 1]?.health === 'failing');
  });
  return [
    ...kept,
    ...(recoveredAt ? [{ at: recoveredAt, health: 'healthy' as const, isRecovery: true }] : []),
    ...(failingSince ? [{ at: failingSince, health: 'failing' as const }] : []),
  ];
}

/** Minutes without attempts keep the health of those before. */
export function timelineOf({ from, to, before, observed, changes }: Input): {
  periods: Period[];
  changes: TimelineChange[];
} {
  const periods: Period[] = [];
  const shown = changes.filter(({ at }) => at >= from);
  let seen = before;
  const stops = new Set<Stop>();
  for (const change of changes) if (change.at < from) apply(stops, change);
  const moments = [...observed, ...shown.map((change) => ({ at: change.at, change }))].toSorted(
    (a, b) => a.at.getTime() - b.at.getTime(),
  );
  const derived: TimelineChange[] = [];

  function extend(at: Date): void {
    const health = STOPS.find((stop) => stops.has(stop)) ?? seen;
    const last = periods.at(-1);
    if (last) last.to = at;
    if (last?.health !== health) periods.push({ from: at, to, health });
  }

  extend(from);
  for (const moment of moments) {
    if ('change' in moment) apply(stops, moment.change);
    else {
      const isFailing = moment.health === 'failing';
      if (isFailing && seen !== 'failing') derived.push({ at: moment.at, kind: 'failing' });
      if (moment.isRecovery || (!isFailing && seen === 'failing'))
        derived.push({ at: moment.at, kind: 'recovered' });
      seen = moment.health;
    }
    extend(moment.at);
  }
  const last = periods.at(-1);
  if (last) last.to = to;
  return {
    periods: periods.filter((period) => period.from < period.to),
    changes: [...shown, ...derived].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
  };
}

function apply(stops: Set<Stop>, { kind }: TimelineChange): void {
  const begun = STOPS.find((stop) => stop === kind);
  if (begun) stops.add(begun);
  const ended = ENDS[kind];
  if (ended) stops.delete(ended);
}
