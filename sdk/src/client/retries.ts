import { ApiError, ConnectionError } from '../errors.ts';
import { type Runtime, sleep } from './runtime.ts';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** After a longer `Retry-After` the caller decides. */
const MAX_RETRY_AFTER_SECONDS = 60;
/** Longer than the minute after which the service gives up a request of a process that was killed. */
const MAX_IN_PROGRESS_MS = 70_000;

type Retries = {
  /** A creation in progress does not count, unless this is 0. */
  maxRetries: number;
  runtime: Runtime;
  signal: AbortSignal | undefined;
  /** Instead of sleeping, if the next attempt waits itself. */
  pause?(delayMs: number): void;
  /** Of an error whose request has had its own repeats. Default: none. */
  isFinal?(error: unknown): boolean;
};

/** Repeats what fails for a passing reason, with growing random pauses, or as `Retry-After` says. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { maxRetries, runtime, signal, pause, isFinal = () => false }: Retries,
): Promise<T> {
  let failures = 0;
  let inProgressSince: number | undefined;

  function isAllowed(error: unknown): boolean {
    if (maxRetries === 0 || isFinal(error)) return false;
    if (!isInProgress(error)) return failures < maxRetries;
    inProgressSince ??= runtime.now();
    return runtime.now() - inProgressSince < MAX_IN_PROGRESS_MS;
  }

  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const delayMs = isAllowed(error) ? delayAfter(error, failures, runtime) : undefined;
      if (delayMs === undefined) throw error;
      if (!isInProgress(error)) failures += 1;
      if (pause) pause(delayMs);
      else await sleep(delayMs, runtime, signal);
    }
  }
}

/** An earlier attempt is being processed, so that giving up leaves the caller without its result. */
function isInProgress(error: unknown): boolean {
  return error instanceof ApiError && error.messageCode === 'idempotency_in_progress';
}

/** Undefined if a repeat cannot help. */
function delayAfter(error: unknown, failures: number, { random }: Runtime): number | undefined {
  // Random, so that clients that failed together do not return together.
  const backoffMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures) * (0.5 + random() / 2);
  if (error instanceof ConnectionError) return backoffMs;
  if (!(error instanceof ApiError)) return undefined;
  const { status, retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined)
    return retryAfterSeconds > MAX_RETRY_AFTER_SECONDS
      ? undefined
      : retryAfterSeconds * 1_000 + random() * FIRST_DELAY_MS;
  return status === 408 || status === 429 || status >= 500 ? backoffMs : undefined;
}

/** `Retry-After` has seconds or an HTTP date (RFC 9110, section 10.2.3). */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1_000));
}
