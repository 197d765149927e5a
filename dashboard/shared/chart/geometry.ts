import { countLabel } from './labels.ts';
import { countTicks } from './ticks.ts';

type Tone = 'accent' | 'trouble';
/** One count for each step; series are stacked in their order. */
export type Series = { name: string; tone: Tone; values: readonly number[] };
export type Geometry = ReturnType<typeof geometryOf>;

export const HEIGHT_PX = 216;
const TOP_PX = 8;
const BOTTOM_PX = 26;
const CHARACTER_PX = 7;
const AXIS_GAP_PX = 10;
const CORNER_PX = 2;
/** A step with one count beside others with thousands is still seen. */
const LEAST_PX = 2;

/** Where everything is in a chart of this width. */
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

/** All bars of one series as one path, above the series before it; the upper ends of a stack are round. */
export function barsPath({ stepPx, xOf, yOf }: Geometry, series: readonly Series[], index: number): string {
  const gap = Math.min(3, Math.max(0.5, stepPx * 0.25));
  const bars = (series[index]?.values ?? []).map((value, step) => {
    if (value === 0) return '';
    const below = totalAt(series.slice(0, index), step);
    const isOnTop = totalAt(series.slice(index + 1), step) === 0;
    const [from, to] = [xOf(step) + gap / 2, xOf(step + 1) - gap / 2];
    const foot = yOf(below);
    const head = Math.min(yOf(below + value), foot - LEAST_PX);
    const corner = isOnTop ? Math.min(CORNER_PX, (to - from) / 2) : 0;
    return [
      `M${shown(from)} ${shown(foot)}V${shown(head + corner)}`,
      `Q${shown(from)} ${shown(head)} ${shown(from + corner)} ${shown(head)}`,
      `H${shown(to - corner)}Q${shown(to)} ${shown(head)} ${shown(to)} ${shown(head + corner)}`,
      `V${shown(foot)}Z`,
    ].join('');
  });
  return bars.join('');
}

function totalAt(series: readonly Series[], step: number): number {
  return series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0);
}

function shown(px: number): number {
  return Math.round(px * 100) / 100;
}
