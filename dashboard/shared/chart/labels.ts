const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
/** From here on a number on the axis is short: 20K. */
const COMPACT_FROM = 10_000;

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = new Intl.DateTimeFormat('en', { weekday: 'short' });
const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** "14:30"; where a day begins, its name. */
export function timeLabel(moment: Date): string {
  return moment.getHours() === 0 && moment.getMinutes() === 0 ? dayLabel(moment) : time.format(moment);
}

export function countLabel(count: number): string {
  return count >= COMPACT_FROM ? compact.format(count) : count.toLocaleString('en');
}

/** "Mon 9, 14:15–14:30"; a minute is told by its beginning. */
export function stepLabel(at: number, stepSeconds: number): string {
  const [begin, end] = [new Date(at), new Date(at + stepSeconds * 1_000)];
  const span = stepSeconds === MINUTE_SECONDS ? '' : `–${time.format(end)}`;
  return `${dayLabel(begin)}, ${time.format(begin)}${span}`;
}

/** "per 15 minutes": what one bar counts. */
export function unitLabel(stepSeconds: number): string {
  if (stepSeconds === MINUTE_SECONDS) return 'per minute';
  return stepSeconds < HOUR_SECONDS
    ? `per ${stepSeconds / MINUTE_SECONDS} minutes`
    : `per ${stepSeconds / HOUR_SECONDS} hours`;
}

/** "0.8 per minute", of a step that is longer. */
export function averageLabel(count: number, stepSeconds: number): string {
  const average = (count * MINUTE_SECONDS) / stepSeconds;
  return `${average.toLocaleString('en', { maximumSignificantDigits: 2 })} per minute`;
}

function dayLabel(moment: Date): string {
  return `${weekday.format(moment)} ${moment.getDate()}`;
}
