import { Readable } from 'node:stream';
import type { EnvironmentName } from '../../../infrastructure/database/tables.ts';
import { hasPassed } from '../../../infrastructure/runtime/clock.ts';
import { HEARTBEAT_EVERY_MS, RECONNECT_AFTER_MS } from '../../streams.ts';
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

/** A few seconds of messages at the maximum rate. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** One viewer's server-sent events, filtered and throttled. */
export function createLiveStream(filters: LiveFilters, openedAtMs: number) {
  const stream = new Readable({ read: () => undefined });
  const isWithinRate = createLiveThrottle();
  let beatAt = openedAtMs;
  let dropped = 0;
  let ended = false;

  function write(text: string): void {
    if (ended || stream.destroyed) return;
    stream.push(text);
    // Aborted without a final chunk, so that the client knows it missed messages.
    if (stream.readableLength > MAX_BUFFERED_BYTES) stream.destroy();
  }

  // The headers are sent with the first bytes.
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
      if (!hasPassed(HEARTBEAT_EVERY_MS, beatAt, nowMs)) return;
      write(':\n\n');
      beatAt = nowMs;
    },

    /** A viewer that is behind is aborted: a regular end would wait until it has read everything. */
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
