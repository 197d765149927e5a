/** A new kind of state or change is added here, with its rule in `health.ts` or `changes.ts`. */
export const HEALTHS = ['healthy', 'failing', 'inactive', 'paused', 'disabled', 'failed'] as const;
export type Health = (typeof HEALTHS)[number];

export const PERIOD_HEALTHS = [
  'unknown',
  'healthy',
  'partly_failing',
  'failing',
  'paused',
  'disabled',
  'failed',
] as const;
export type PeriodHealth = (typeof PERIOD_HEALTHS)[number];

/** `failing` and `recovered` are derived from attempts, the others from the audit log. */
export const TIMELINE_CHANGES = [
  'created',
  'failing',
  'recovered',
  'failed',
  'disabled',
  'enabled',
  'paused',
  'resumed',
  'url_changed',
  'key_rolled',
  'deletion_scheduled',
] as const;
export type TimelineChangeKind = (typeof TIMELINE_CHANGES)[number];
export type TimelineChange = { at: Date; kind: TimelineChangeKind };
