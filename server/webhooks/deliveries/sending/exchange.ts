import type { Dispatcher } from 'undici';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Connection, Pools } from './connection-pools.ts';
import { EXCERPT_BYTES, excerptOf } from './excerpt.ts';
import { unreachableReason } from './failure-reasons.ts';
import { keptHeaders } from './response-headers.ts';

/** For DNS, connection, TLS, request and response together. */
export const EXCHANGE_TIMEOUT_MS = 10_000;
/** A longer response body is cut off; its status still counts. */
export const MAX_RESPONSE_BYTES = 64 * 1024;
/** Informational responses before the final one. Each costs a call of the handler, and an endpoint could send them endlessly. */
export const MAX_INFORMATIONAL = 16;

const NO_STATUS = 0;
const NO_BYTES = Buffer.alloc(0);

export type PostRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  allowPrivate: boolean;
  /** A 2xx answer has details too. */
  detailed?: boolean | undefined;
};

/** Recorded for attempts that get a row of their own; left out of other answers, which pass between threads. */
export type ExchangeDetails = {
  addresses: readonly string[];
  responseHeaders?: Record<string, string> | undefined;
};

export type ParsedUrl = { origin: string; path: string };

export type Answer =
  | {
      kind: 'answered';
      status: number;
      retryAfter: string | undefined;
      excerpt: string;
      durationMs: number;
      details?: ExchangeDetails;
    }
  /** Status and excerpt are set when the response had begun. */
  | {
      kind: 'timeout' | 'unreachable';
      reason: string;
      durationMs: number;
      status?: number;
      excerpt?: string;
      details?: ExchangeDetails;
    };

export function notSent(reason: string): Answer {
  return { kind: 'unreachable', reason, durationMs: 0 };
}

type Deps = { clock: Clock; timers: Timers; pools: Pools };

/**
 * One request and its response, as an undici handler: on this hot path a single object without streams and signals.
 * The response, the timeout or an error ends it, whichever comes first.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #deps: Deps;
  readonly #request: PostRequest;
  readonly #url: ParsedUrl;
  readonly #done: (answer: Answer) => void;
  readonly #startedAt: number;
  readonly #cancelDeadline: () => void;
  #connection: Connection;
  #isReused: boolean;
  #isSent = false;
  #isOver = false;
  #informational = 0;
  #status = NO_STATUS;
  #headers: Record<string, string | string[] | undefined> = {};
  #beginning: Buffer = NO_BYTES;
  #bytes = 0;

  constructor(deps: Deps, request: PostRequest, url: ParsedUrl, done: (answer: Answer) => void) {
    this.#deps = deps;
    this.#request = request;
    this.#url = url;
    this.#done = done;
    this.#startedAt = deps.clock.now().getTime();
    this.#cancelDeadline = deps.timers.after(EXCHANGE_TIMEOUT_MS, () => this.#expire());
    const idle = deps.pools.takeIdle(url.origin, request.allowPrivate);
    this.#isReused = idle !== undefined;
    this.#connection = idle ?? deps.pools.open(url.origin, request.allowPrivate);
  }

  send(): void {
    const { headers, body } = this.#request;
    // `blocking` matters for pipelining only.
    const request = { method: 'POST', path: this.#url.path, headers, body, blocking: false };
    try {
      this.#connection.client.dispatch(request, this);
    } catch (error) {
      // undici refused the request: its timer and connection must be released.
      this.onResponseError(undefined, error as Error);
    }
  }

  onRequestStart(): void {
    this.#isSent = true;
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // Informational responses precede the final one (RFC 9110, section 15.2).
    if (status < 200) this.#countInformational();
    else {
      this.#status = status;
      this.#headers = headers;
    }
  }

  #countInformational(): void {
    this.#informational += 1;
    if (this.#informational > MAX_INFORMATIONAL && !this.#isOver)
      this.#fail('unreachable', 'too many informational responses');
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bytes === 0) this.#beginning = chunk;
    // One byte beyond the excerpt tells that there is more.
    else if (this.#bytes <= EXCERPT_BYTES) this.#beginning = Buffer.concat([this.#beginning, chunk]);
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_RESPONSE_BYTES) return;
    this.#answer();
    void this.#deps.pools.drop(this.#connection);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#deps.pools.release(this.#connection);
    this.#answer();
  }

  onResponseError(_: unknown, error: Error & { code?: string }): void {
    if (this.#isOver) return;
    const isStopped = error.code === 'UND_ERR_DESTROYED';
    if (this.#isReused && !this.#isSent && !isStopped) this.#resend();
    else this.#fail('unreachable', unreachableReason(error));
  }

  /** The endpoint closed the idle connection before a byte was sent on it. */
  #resend(): void {
    const { pools } = this.#deps;
    void pools.drop(this.#connection);
    this.#isReused = false;
    this.#connection = pools.open(this.#url.origin, this.#request.allowPrivate);
    this.send();
  }

  #expire(): void {
    const within = `within ${EXCHANGE_TIMEOUT_MS / 1_000} seconds`;
    const what = this.#hasBegun() ? 'the response was not complete' : 'no response';
    this.#fail('timeout', `${what} ${within}`);
  }

  #answer(): void {
    const retryAfter = this.#headers['retry-after'];
    const isSuccess = this.#status >= 200 && this.#status < 300;
    this.#finish({
      kind: 'answered',
      status: this.#status,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      excerpt: excerptOf(this.#beginning),
      durationMs: this.#durationMs(),
      ...(isSuccess && !this.#request.detailed ? {} : { details: this.#details() }),
    });
  }

  #fail(kind: 'timeout' | 'unreachable', reason: string): void {
    const begun = this.#hasBegun() ? { status: this.#status, excerpt: excerptOf(this.#beginning) } : {};
    this.#finish({ kind, reason, durationMs: this.#durationMs(), ...begun, details: this.#details() });
    // After #finish: dropping the connection fails an unsent request at once, with another reason.
    void this.#deps.pools.drop(this.#connection);
  }

  #finish(answer: Answer): void {
    this.#isOver = true;
    this.#cancelDeadline();
    this.#done(answer);
  }

  #details(): ExchangeDetails {
    const { addresses } = this.#connection;
    return this.#hasBegun() ? { addresses, responseHeaders: keptHeaders(this.#headers) } : { addresses };
  }

  #hasBegun(): boolean {
    return this.#status !== NO_STATUS;
  }

  #durationMs(): number {
    // A clock change must not produce a duration that the column cannot hold.
    const elapsed = this.#deps.clock.now().getTime() - this.#startedAt;
    return Math.min(Math.max(0, elapsed), EXCHANGE_TIMEOUT_MS);
  }
}
