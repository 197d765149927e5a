import { Failure } from '../../../../infrastructure/runtime/failure.ts';

/** Validates a window and ends it now at the latest. */
export function windowOf(
  input: { since: string; until?: string | undefined },
  now: Date,
): { since: Date; until: Date } | Failure {
  const since = new Date(input.since);
  const until = new Date(input.until ?? now);
  // The schema accepts leap seconds, which `Date` cannot parse.
  for (const [name, moment] of Object.entries({ since, until }))
    if (Number.isNaN(moment.getTime()))
      return new Failure(
        'invalid_parameter',
        `${name} must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z`,
      );
  const end = until < now ? until : now;
  if (since >= end) return new Failure('invalid_parameter', 'since must be before until, and before now');
  return { since, until: end };
}
