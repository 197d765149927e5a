const format = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** "Nov 15, 11:00 – Nov 16, 12:30", in local time. */
export function formatPeriod(since: string, until: string): string {
  return format.formatRange(new Date(since), new Date(until));
}
