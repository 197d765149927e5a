import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, ConnectionError, type Portico } from '../../../sdk/src/index.ts';
import { CliError, isPassing } from '../failure.ts';
import type { StreamedEvent } from './forward.ts';
import { readMessages } from './server-sent-events.ts';

const PATH = '/api/subscription_events/stream';
/** The service sends a heartbeat every 15 seconds. */
const MAX_SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** A timer that is too long ends at once. */
const MAX_RETRY_AFTER_MS = 60_000;

type Start = { lastEventId?: string | undefined; since?: Date | undefined };

type Options = {
  types: readonly string[];
  signal: AbortSignal;
  onConnected?(isFirst: boolean): void;
  onInterrupted?(reason: string): void;
  /** The event is done when it resolves; then its position is kept. */
  onEvent(event: StreamedEvent): Promise<void>;
  keep?(lastEventId: string): Promise<void>;
};

/** Follows the stream until the signal: after every break it resumes after the last event that was done. */
export async function follow(portico: Portico, start: Start, options: Options): Promise<void> {
  const { types, signal, onConnected, onInterrupted, onEvent, keep } = options;
  let { lastEventId, since } = start;
  let isFirst = true;
  let pauseMs = FIRST_PAUSE_MS;

  async function connectOnce(): Promise<void> {
    const connection = new AbortController();
    const signals = AbortSignal.any([signal, connection.signal]);
    const query = new URLSearchParams({
      ...(types.length > 0 && { event_type: types.join() }),
      ...(since && { since: since.toISOString() }),
    });
    const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
    const response = await portico.stream(`${PATH}?${query}`, { headers, signal: signals, maxRetries: 0 });
    if (!response.body) return;
    // Until the first id, a broken connection resumes from the time of the service.
    if (!lastEventId) since ??= dateOf(response);
    const nextChunk = <T>(reading: Promise<T>) => {
      const timer = setTimeout(() => connection.abort(new Error('no heartbeat')), MAX_SILENCE_MS);
      return reading.finally(() => clearTimeout(timer));
    };
    onConnected?.(isFirst);
    isFirst = false;
    for await (const { id, data } of readMessages(response.body, nextChunk)) {
      pauseMs = FIRST_PAUSE_MS;
      if (data !== undefined) await onEvent(JSON.parse(data) as StreamedEvent);
      if (!id || id === lastEventId) continue;
      lastEventId = id;
      await keep?.(id);
    }
  }

  while (!signal.aborted) {
    let reason = 'the service closed the stream';
    try {
      await connectOnce();
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CliError || (error instanceof ApiError && !isPassing(error))) throw error;
      if (error instanceof ApiError && error.retryAfterSeconds)
        pauseMs = Math.min(MAX_RETRY_AFTER_MS, error.retryAfterSeconds * 1_000);
      if (error instanceof ConnectionError || error instanceof ApiError) reason = error.message;
      else reason = 'the connection broke';
    }
    onInterrupted?.(reason);
    await delay(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}

function dateOf({ headers }: Response): Date | undefined {
  const date = new Date(headers.get('date') ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}
