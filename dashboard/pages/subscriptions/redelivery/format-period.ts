const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** "Nov 15, 2026, 11:00 AM – 12:30 PM", in local time. */
export function formatPeriod(since: string, until: string): string {
  return format.formatRange(new Date(since), new Date(until));
}
