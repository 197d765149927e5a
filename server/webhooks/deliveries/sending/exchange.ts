import type { Dispatcher } from 'undici';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Line, Pools } from './connection-pools.ts';
import { EXCERPT_BYTES, excerptOf } from './excerpt.ts';
import type { Answer, Exchange, Target } from './transport.ts';
import { unreachableReason } from './unreachable.ts';

/** For everything together: name, connection, TLS, request and response. */
export const EXCHANGE_TIMEOUT_MS = 10_000;
/** Of a response's body. A longer one is not read to its end; its status counts all the same. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

const NO_STATUS = 0;
const NO_BYTES = Buffer.alloc(0);

type Deps = { clock: Clock; timers: Timers; pools: Pools };

/**
 * One exchange, as undici's handler of it. The hot path: a single object, without streams and signals.
 * It is over once: by the response, by its deadline, or by an error, whichever comes first.
 */
export class Conversation implements Dispatcher.DispatchHandler {
  readonly #deps: Deps;
  readonly #exchange: Exchange;
  readonly #target: Target;
  readonly #settle: (answer: Answer) => void;
  readonly #startedAt: number;
  readonly #cancelDeadline: () => void;
  #line: Line;
  #isReused: boolean;
  #isSent = false;
  #isOver = false;
  #status = NO_STATUS;
  #retryAfter: string | undefined;
  #beginning: Buffer = NO_BYTES;
  #bytes = 0;

  constructor(deps: Deps, exchange: Exchange, target: Target, settle: (answer: Answer) => void) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#target = target;
    this.#settle = settle;
    this.#startedAt = deps.clock.now().getTime();
    this.#cancelDeadline = deps.timers.after(EXCHANGE_TIMEOUT_MS, () => this.#expire());
    const idle = deps.pools.takeIdle(target.origin, exchange.allowPrivate);
    this.#isReused = idle !== undefined;
    this.#line = idle ?? deps.pools.open(target.origin, exchange.allowPrivate);
  }

  send(): void {
    const { headers, body } = this.#exchange;
    // Not "blocking" spares undici some work that matters to pipelining only.
    const request = { method: 'POST', path: this.#target.path, headers, body, blocking: false };
    try {
      this.#line.client.dispatch(request, this);
    } catch (error) {
      // Whatever undici will not even try must end like the rest, or its deadline and its connection would stay.
      this.onResponseError(undefined, error as Error);
    }
  }

  onRequestStart(): void {
    this.#isSent = true;
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // Early hints and the like: the response is still to come (RFC 9110, 15.2).
    if (status < 200) return;
    this.#status = status;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bytes === 0) this.#beginning = chunk;
    // One byte more than an excerpt has, to know that there is more.
    else if (this.#bytes <= EXCERPT_BYTES) this.#beginning = Buffer.concat([this.#beginning, chunk]);
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_RESPONSE_BYTES) return;
    this.#answer();
    void this.#deps.pools.drop(this.#line);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#deps.pools.giveBack(this.#line);
    this.#answer();
  }

  onResponseError(_: unknown, error: Error & { code?: string }): void {
    if (this.#isOver) return;
    const isStopped = error.code === 'UND_ERR_DESTROYED';
    if (this.#isReused && !this.#isSent && !isStopped) this.#sendAnew();
    else this.#fail('unreachable', unreachableReason(error));
  }

  /** The idle connection was reset before a byte was sent on it: as if there had been none. */
  #sendAnew(): void {
    const { pools } = this.#deps;
    void pools.drop(this.#line);
    this.#isReused = false;
    this.#line = pools.open(this.#target.origin, this.#exchange.allowPrivate);
    this.send();
  }

  #expire(): void {
    const within = `within ${EXCHANGE_TIMEOUT_MS / 1_000} seconds`;
    const what = this.#hasBegun() ? 'the response was not complete' : 'no response';
    this.#fail('timeout', `${what} ${within}`);
  }

  #answer(): void {
    this.#finish({
      kind: 'answered',
      status: this.#status,
      retryAfter: this.#retryAfter,
      excerpt: excerptOf(this.#beginning),
      durationMs: this.#durationMs(),
    });
  }

  #fail(kind: 'timeout' | 'unreachable', reason: string): void {
    const begun = this.#hasBegun() ? { status: this.#status, excerpt: excerptOf(this.#beginning) } : {};
    this.#finish({ kind, reason, durationMs: this.#durationMs(), ...begun });
    // Only now: dropping tells a request that is not sent yet at once, and this was not its reason.
    void this.#deps.pools.drop(this.#line);
  }

  #finish(answer: Answer): void {
    this.#isOver = true;
    this.#cancelDeadline();
    this.#settle(answer);
  }

  #hasBegun(): boolean {
    return this.#status !== NO_STATUS;
  }

  #durationMs(): number {
    // A clock that is set in between must not make a number of it that no column holds.
    const elapsed = this.#deps.clock.now().getTime() - this.#startedAt;
    return Math.min(Math.max(0, elapsed), EXCHANGE_TIMEOUT_MS);
  }
}
