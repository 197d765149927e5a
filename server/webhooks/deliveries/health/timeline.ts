import type { PeriodHealth, TimelineChange, TimelineChangeKind } from './health-states.ts';

/** What the attempts of some minutes say; absent for minutes without attempts. */
export type Observed = { at: Date; health: Extract<PeriodHealth, 'healthy' | 'partly_failing' | 'failing'> };
export type Period = { from: Date; to: Date; health: PeriodHealth };

/** Changes that decide the health until another one ends it, whatever the attempts say. */
const OVERRIDES: Partial<Record<TimelineChangeKind, PeriodHealth | 'none'>> = {
  disabled: 'disabled',
  enabled: 'none',
  paused: 'paused',
  resumed: 'none',
  failed: 'failed',
};

type Input = {
  from: Date;
  to: Date;
  before: PeriodHealth;
  observed: readonly Observed[];
  /** Oldest first. Those before `from` only count for the override in effect at `from`. */
  changes: readonly TimelineChange[];
};

/** Minutes without attempts keep the health of those before. */
export function timelineOf({ from, to, before, observed, changes }: Input): {
  periods: Period[];
  changes: TimelineChange[];
} {
  const periods: Period[] = [];
  const shown = changes.filter(({ at }) => at >= from);
  let seen = before;
  let override = changes.filter(({ at }) => at < from).reduce(overrideAfter, undefined);
  const moments = [
    ...observed.map(({ at, health }) => ({ at, health })),
    ...shown.map((change) => ({ at: change.at, change })),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const derived: TimelineChange[] = [];

  function extend(at: Date): void {
    const health = override ?? seen;
    const last = periods.at(-1);
    if (last) last.to = at;
    if (last?.health !== health) periods.push({ from: at, to, health });
  }

  extend(from);
  for (const moment of moments) {
    if ('change' in moment) override = overrideAfter(override, moment.change);
    else {
      const isFailing = moment.health === 'failing';
      if (isFailing && seen !== 'failing') derived.push({ at: moment.at, kind: 'failing' });
      if (!isFailing && seen === 'failing') derived.push({ at: moment.at, kind: 'recovered' });
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

function overrideAfter(
  current: PeriodHealth | undefined,
  { kind }: TimelineChange,
): PeriodHealth | undefined {
  const next = OVERRIDES[kind];
  return next === undefined ? current : next === 'none' ? undefined : next;
}
