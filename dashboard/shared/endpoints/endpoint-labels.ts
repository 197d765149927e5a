import type { EndpointHealth } from '../../api/types.ts';

type LastError = NonNullable<EndpointHealth['last_error']>;
type Cause = Pick<LastError, 'kind' | 'status'>;
type Reason = Pick<LastError, 'excerpt' | 'reason'>;

/** Two lines of the overview: an error page of the endpoint must not hide the other endpoints. */
const MAX_REASON_CHARACTERS = 200;

const VERBS = { rejected: 'answers', timeout: 'times out', unreachable: 'is unreachable' } as const;
const NOUNS = { rejected: 'HTTP', timeout: 'Timeout', unreachable: 'Unreachable' } as const;

/** "answers 500", "times out" */
export function causeLabel({ kind, status }: Cause): string {
  return status === undefined ? VERBS[kind] : `${VERBS[kind]} ${status}`;
}

/** "HTTP 500 × 1,190 · Timeout × 13" */
export function errorCountsLabel({ errors }: Pick<EndpointHealth, 'errors'>): string {
  return errors
    .map(({ kind, status, count }) => {
      const cause = status === undefined ? NOUNS[kind] : `${NOUNS[kind]} ${status}`;
      return `${cause} × ${count.toLocaleString('en')}`;
    })
    .join(' · ');
}

/** What the endpoint answered, or why it did not, on one line. The page of the attempt has the whole excerpt. */
export function reasonLabel({ excerpt, reason }: Reason): string | undefined {
  const text = (excerpt ?? reason)?.replaceAll(/\s+/g, ' ').trim();
  return text && text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}…` : text;
}

/** "1,203", or "10,000+" when more may wait than are counted. */
export function waitingLabel({
  waiting,
  waiting_is_minimum: isMinimum,
}: Pick<EndpointHealth, 'waiting' | 'waiting_is_minimum'>): string {
  return `${waiting.toLocaleString('en')}${isMinimum ? '+' : ''}`;
}

/** The newest error while it lasts: `last_error` stays after a recovery. */
export function currentError({ health, last_error: error }: EndpointHealth): EndpointHealth['last_error'] {
  return health === 'failing' || health === 'failed' ? error : undefined;
}
