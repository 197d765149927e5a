const MINUTE_MS = 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;
const MAX_LINES = 4;
/** Steps of an axis, times a power of ten. */
const FACTORS = [1, 2, 2.5, 5, 10];
/** Steps of the time axis, in minutes. */
const TIME_STEPS = [5, 10, 15, 30, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY];
/** Width of one label and the gap to the next. */
const LABEL_PX = 52;

/** Integers from 0 to at least `max`, evenly spaced. */
export function countTicks(max: number): number[] {
  const rough = Math.max(1, max / MAX_LINES);
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = FACTORS.map((factor) => factor * power);
  const step = steps.find((each) => each >= rough && Number.isInteger(each)) ?? 10 * power;
  const lines = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: lines + 1 }, (_, line) => line * step);
}

/** Round local times, counted from midnight so that every day has the same ticks. */
export function timeTicks(from: number, to: number, widthPx: number): Date[] {
  const fitting = Math.max(1, Math.floor(widthPx / LABEL_PX));
  const minutes = (to - from) / MINUTE_MS;
  const step = TIME_STEPS.find((each) => minutes / each <= fitting) ?? 2 * DAY;
  const first = new Date(from);
  const at = (tick: number) =>
    new Date(first.getFullYear(), first.getMonth(), first.getDate(), 0, tick * step);
  const ticks: Date[] = [];
  for (let tick = 0; at(tick).getTime() <= to; tick++) {
    if (at(tick).getTime() >= from) ticks.push(at(tick));
  }
  return ticks;
}
