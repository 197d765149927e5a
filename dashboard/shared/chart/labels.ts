const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const COMPACT_FROM = 10_000;

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = new Intl.DateTimeFormat('en', { weekday: 'short' });
const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** "14:30"; at midnight "Sun 15". */
export function timeLabel(date: Date): string {
  return date.getHours() === 0 && date.getMinutes() === 0 ? dayLabel(date) : time.format(date);
}

export function countLabel(count: number): string {
  return count >= COMPACT_FROM ? compact.format(count) : count.toLocaleString('en');
}

/** "Mon 9, 14:15–14:30"; for one minute "Mon 9, 14:15". */
export function stepLabel(at: number, stepSeconds: number): string {
  const [begin, end] = [new Date(at), new Date(at + stepSeconds * 1_000)];
  const span = stepSeconds === MINUTE_SECONDS ? '' : `–${time.format(end)}`;
  return `${dayLabel(begin)}, ${time.format(begin)}${span}`;
}

/** "per 15 minutes" */
export function unitLabel(stepSeconds: number): string {
  if (stepSeconds === MINUTE_SECONDS) return 'per minute';
  return stepSeconds < HOUR_SECONDS
    ? `per ${stepSeconds / MINUTE_SECONDS} minutes`
    : `per ${stepSeconds / HOUR_SECONDS} hours`;
}

/** "0.8 per minute" */
export function averageLabel(count: number, stepSeconds: number): string {
  const average = (count * MINUTE_SECONDS) / stepSeconds;
  return `${average.toLocaleString('en', { maximumSignificantDigits: 2 })} per minute`;
}

function dayLabel(date: Date): string {
  return `${weekday.format(date)} ${date.getDate()}`;
}
