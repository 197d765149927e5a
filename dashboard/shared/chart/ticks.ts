const MINUTE_MS = 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;
/** Lines across a chart; more would be a fence. */
const MOST_LINES = 4;
/** What people count in, times a power of ten. */
const FACTORS = [1, 2, 2.5, 5, 10];
/** How far apart labels of the time may be, in minutes of the reader's own clock. */
const DISTANCES = [5, 10, 15, 30, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY];
/** Room for one label and the gap to the next. */
const LABEL_PX = 52;

/** Whole numbers from 0 up to at least `most`, evenly apart. */
export function countTicks(most: number): number[] {
  const rough = Math.max(1, most / MOST_LINES);
  const power = 10 ** Math.floor(Math.log10(rough));
  const distances = FACTORS.map((factor) => factor * power);
  const distance = distances.find((each) => each >= rough && Number.isInteger(each)) ?? 10 * power;
  const lines = Math.max(1, Math.ceil(most / distance));
  return Array.from({ length: lines + 1 }, (_, line) => line * distance);
}

/** Moments to label, at round times of the reader's day: counted from midnight, so that each day has its own. */
export function timeTicks(from: number, to: number, widthPx: number): Date[] {
  const fitting = Math.max(1, Math.floor(widthPx / LABEL_PX));
  const minutes = (to - from) / MINUTE_MS;
  const distance = DISTANCES.find((each) => minutes / each <= fitting) ?? 2 * DAY;
  const first = new Date(from);
  const at = (tick: number) =>
    new Date(first.getFullYear(), first.getMonth(), first.getDate(), 0, tick * distance);
  const moments: Date[] = [];
  for (let tick = 0; at(tick).getTime() <= to; tick++) {
    if (at(tick).getTime() >= from) moments.push(at(tick));
  }
  return moments;
}
