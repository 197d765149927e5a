import { ConfigurationError, ConnectionError, PorticoError, TimeoutError } from '../errors.ts';
import { readError } from './responses.ts';
import type { Runtime } from './runtime.ts';

export type Exchange = Omit<RequestInit, 'signal'> & { signal?: AbortSignal | undefined; timeoutMs: number };

/**
 * One request. `read` reads the answer within the time limit; an answer that is read later, such as a stream, has no
 * limit, but ends with the signal of the caller.
 */
export async function exchange<T>(
  url: string,
  { signal, timeoutMs, ...init }: Exchange,
  runtime: Runtime,
  read: (response: Response) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  requireTimeout(timeoutMs);
  const timeout = new AbortController();
  const stop = runtime.after(timeoutMs, () => timeout.abort());
  try {
    const signals = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    // The service never redirects, and a followed one would carry the client secret in the body to another host.
    const response = await runtime.fetch(url, { ...init, redirect: 'manual', signal: signals });
    if (!response.ok) throw await readError(response, runtime);
    return await read(response);
  } catch (cause) {
    if (cause instanceof PorticoError) throw cause;
    signal?.throwIfAborted();
    const { host } = new URL(url);
    if (timeout.signal.aborted) throw new TimeoutError(`${host} did not answer within ${timeoutMs} ms`);
    throw new ConnectionError(`The request to ${host} failed: ${reasonOf(cause)}`, { cause });
  } finally {
    stop();
  }
}

/** Also refuses NaN, which would be no limit. */
export function requireTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0)) throw new ConfigurationError(`timeoutMs must be above 0, unlike ${timeoutMs}`);
}

/** `fetch` of Node.js says only "fetch failed"; the reason is the cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = Object(error) as { cause?: unknown };
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
