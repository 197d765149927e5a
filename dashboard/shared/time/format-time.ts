const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const JUST_NOW_MS = 45_000;
const DAYS_FROM_HOURS = 48;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

/** "3 min. ago", "in 2 hr.", "just now". */
export function formatRelativeTime(at: string, now: number): string {
  const distance = Date.parse(at) - now;
  const magnitude = Math.abs(distance);
  if (magnitude < JUST_NOW_MS) return distance > 0 ? 'in a moment' : 'just now';
  const [unit, length] = UNITS.find(([, size]) => magnitude >= size) ?? (['minute', 60_000] as const);
  return relative.format(Math.sign(distance) * Math.max(1, Math.round(magnitude / length)), unit);
}

const MINUTE_MS = 60_000;

/** "2026-11-15 13:00:03" in local time, "2026-11-15 12:00:03 UTC". */
export function formatAbsoluteTime(at: string, zone: 'local' | 'utc'): string {
  const date = new Date(at);
  const offset = zone === 'local' ? date.getTimezoneOffset() * MINUTE_MS : 0;
  const text = new Date(date.getTime() - offset).toISOString().slice(0, 19).replace('T', ' ');
  return zone === 'utc' ? `${text} UTC` : text;
}

/** "13:00:03" in local time, "12:00:03 UTC". */
export function formatClock(at: string, zone: 'local' | 'utc'): string {
  return formatAbsoluteTime(at, zone).slice('2026-11-15 '.length);
}

/** Local time, followed by the UTC time of the API. */
export function formatExactTime(at: string): string {
  return `${exact.format(new Date(at))} · ${at}`;
}

/** "7 days", "6 d 23 h", "23 h 12 min", "4 min". */
export function formatRemaining(until: string, now: number): string {
  const minutes = Math.max(0, Math.ceil((Date.parse(until) - now) / 60_000));
  const hours = Math.floor(minutes / 60);
  if (hours >= DAYS_FROM_HOURS) {
    const days = Math.floor(hours / 24);
    return hours % 24 === 0 ? `${days} days` : `${days} d ${hours % 24} h`;
  }
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** "38 ms", "1.2 s". */
export function formatDuration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
