const format = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});

/** "Nov 15, 11:00 AM – Nov 16, 12:30 PM", in local time. */
export function formatPeriod(since: string, until: string): string {
  return format.formatRange(new Date(since), new Date(until));
}
