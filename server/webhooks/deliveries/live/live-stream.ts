import { Readable } from 'node:stream';
import type { EnvironmentName } from '../../../infrastructure/database/tables.ts';
import type { DeliveryState } from '../state.ts';
import type { LiveAttempt } from './live-messages.ts';
import { createLiveThrottle } from './live-throttle.ts';

export type LiveFilters = {
  environment: EnvironmentName | undefined;
  environments: readonly string[] | undefined;
  subscriptionGuid: readonly string[] | undefined;
  state: readonly DeliveryState[] | undefined;
};

export type LiveStream = ReturnType<typeof createLiveStream>;

/** What a reader may be behind, besides what is on the wire; some seconds of the most there is. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Proxies close what is silent for a minute, and only writing tells that a reader is gone. */
const HEARTBEAT_EVERY_MS = 15_000;
/** A client that lost the stream comes back after this; it is part of the protocol. */
const RECONNECT_AFTER_MS = 1_000;

/** One reader's server-sent events (HTML standard, section 9.2): what it asked for, no faster than it can be read. */
export function createLiveStream(filters: LiveFilters, openedAtMs: number) {
  const stream = new Readable({ read: () => undefined });
  const isWithinRate = createLiveThrottle();
  let beatAt = openedAtMs + HEARTBEAT_EVERY_MS;
  let dropped = 0;
  let ended = false;

  function write(text: string): void {
    if (ended || stream.destroyed) return;
    stream.push(text);
    // Cut off, without the end that a complete answer has: the client knows that it missed something.
    if (stream.readableLength > MAX_BUFFERED_BYTES) stream.destroy();
  }

  // At once, because the headers go out with the first bytes.
  write(`retry: ${RECONNECT_AFTER_MS}\n\n`);

  return {
    stream,

    offer(attempts: readonly LiveAttempt[], droppedBefore: number, nowMs: number): void {
      dropped += droppedBefore;
      const wanted = attempts.filter((attempt) => matches(filters, attempt));
      const within = wanted.filter(() => isWithinRate(nowMs));
      dropped += wanted.length - within.length;
      if (within.length > 0) write(within.map((attempt) => `data: ${JSON.stringify(attempt)}\n\n`).join(''));
    },

    /** Once a second. */
    tick(nowMs: number): void {
      if (dropped > 0) write(`event: dropped\ndata: ${JSON.stringify({ dropped })}\n\n`);
      dropped = 0;
      if (nowMs < beatAt) return;
      write(':\n\n');
      beatAt = nowMs + HEARTBEAT_EVERY_MS;
    },

    /** Whoever is behind, and perhaps does not read at all, is cut off: an end would wait until all is read. */
    end(): void {
      if (ended) return;
      ended = true;
      if (stream.readableLength > 0) stream.destroy();
      else stream.push(null);
    },
  };
}

function matches(
  { environment, environments, subscriptionGuid, state }: LiveFilters,
  attempt: LiveAttempt,
): boolean {
  return (
    attempt.environment === (environment ?? attempt.environment) &&
    (environments?.includes(attempt.environment) ?? true) &&
    (subscriptionGuid?.includes(attempt.subscription_guid) ?? true) &&
    (state?.includes(attempt.state) ?? true)
  );
}
