import { countLabel } from './labels.ts';
import { countTicks } from './ticks.ts';

type Tone = 'accent' | 'error';
/** One count per step; series are stacked in order. */
export type Series = { name: string; tone: Tone; values: readonly number[] };
export type Geometry = ReturnType<typeof geometryOf>;

export const HEIGHT_PX = 216;
const TOP_PX = 8;
const BOTTOM_PX = 26;
const CHARACTER_PX = 7;
const AXIS_GAP_PX = 10;
const CORNER_PX = 2;
/** Keeps a count of 1 visible beside counts in the thousands. */
const MIN_BAR_PX = 2;

export function geometryOf(widthPx: number, series: readonly Series[]) {
  const steps = series[0]?.values.length ?? 0;
  const totals = Array.from({ length: steps }, (_, step) => totalAt(series, step));
  const ticks = countTicks(Math.max(0, ...totals));
  const longest = Math.max(...ticks.map((tick) => countLabel(tick).length));
  const left = longest * CHARACTER_PX + AXIS_GAP_PX;
  const bottom = HEIGHT_PX - BOTTOM_PX;
  const plotPx = Math.max(1, widthPx - left);
  const stepPx = plotPx / Math.max(1, steps);
  const top = ticks.at(-1) ?? 1;
  return {
    left,
    bottom,
    right: left + plotPx,
    plotPx,
    stepPx,
    ticks,
    xOf: (step: number) => left + step * stepPx,
    yOf: (count: number) => bottom - (count / top) * (bottom - TOP_PX),
  };
}

/** All bars of one series as one SVG path; the top of each stack has round corners. */
export function barsPath({ stepPx, xOf, yOf }: Geometry, series: readonly Series[], index: number): string {
  const gap = Math.min(3, Math.max(0.5, stepPx * 0.25));
  const bars = (series[index]?.values ?? []).map((value, step) => {
    if (value === 0) return '';
    const below = totalAt(series.slice(0, index), step);
    const isOnTop = totalAt(series.slice(index + 1), step) === 0;
    const [from, to] = [xOf(step) + gap / 2, xOf(step + 1) - gap / 2];
    const bottom = yOf(below);
    const top = Math.min(yOf(below + value), bottom - MIN_BAR_PX);
    const corner = isOnTop ? Math.min(CORNER_PX, (to - from) / 2) : 0;
    return [
      `M${round(from)} ${round(bottom)}V${round(top + corner)}`,
      `Q${round(from)} ${round(top)} ${round(from + corner)} ${round(top)}`,
      `H${round(to - corner)}Q${round(to)} ${round(top)} ${round(to)} ${round(top + corner)}`,
      `V${round(bottom)}Z`,
    ].join('');
  });
  return bars.join('');
}

function totalAt(series: readonly Series[], step: number): number {
  return series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0);
}

function round(px: number): number {
  return Math.round(px * 100) / 100;
}
