import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, hasCode } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import { readMessages } from '../../api/server-sent-events.ts';
import type { LiveDelivery } from '../../api/types.ts';
import { SESSION_KEY } from '../../session/services.ts';
import { createBatch } from './batch.ts';

const MAX_ROWS = 200;
/** A render of the page for each attempt would keep the browser busy at some tens of attempts a second. */
const RENDER_EVERY_MS = 200;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;

export type LiveRow = LiveDelivery & { key: number };
export type Connection = 'connecting' | 'open' | 'lost' | 'rejected';

type Options = { state: string | undefined; subscription: string | undefined; paused: boolean };

/** Newest first. The stream ends when its token expires, and reconnects with a new one. */
export function useLive(api: Api, { state, subscription, paused }: Options) {
  const queries = useQueryClient();
  const [rows, setRows] = useState<readonly LiveRow[]>([]);
  const [batch] = useState(() =>
    createBatch<LiveRow>({ intervalMs: RENDER_EVERY_MS, maxItems: MAX_ROWS }, (newest) =>
      setRows((before) => [...newest, ...before].slice(0, MAX_ROWS)),
    ),
  );
  const [connection, setConnection] = useState<Connection>('connecting');
  const [dropped, setDropped] = useState(0);
  const [error, setError] = useState<ApiError>();
  /** Rows are kept during a pause, so keys must stay unique across connections. */
  const nextKey = useRef(0);

  useEffect(() => {
    if (paused) return;
    const controller = new AbortController();
    let retryMs = MIN_RETRY_MS;
    setError(undefined);
    setConnection('connecting');

    async function listen(): Promise<void> {
      const query = { state, subscription_guid: subscription };
      const response = await api.open('/subscription_deliveries/live', { query, signal: controller.signal });
      setConnection('open');
      setError(undefined);
      retryMs = MIN_RETRY_MS;
      for await (const { event, data } of readMessages(response)) {
        const message = JSON.parse(data) as LiveDelivery & { dropped?: number };
        const row = { ...message, key: nextKey.current++ };
        if (event === 'dropped') setDropped((sum) => sum + (message.dropped ?? 0));
        else batch.add(row);
      }
    }

    /** The session may have ended, or the role changed: reload the session. */
    async function disconnect(rejection: ApiError): Promise<void> {
      setConnection('rejected');
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      if (!controller.signal.aborted) setError(rejection);
    }

    async function listenWithRetries(): Promise<void> {
      while (!controller.signal.aborted) {
        const failure = await listen().catch((reason: unknown) => reason);
        if (controller.signal.aborted) return;
        const rejection = failure instanceof ApiError ? failure : undefined;
        if (rejection && isFinal(rejection)) return await disconnect(rejection);
        setConnection('lost');
        setError(hasCode(rejection, 'rate_limit_exceeded') ? rejection : undefined);
        await sleep(Math.max(retryMs, (rejection?.retryAfterSeconds ?? 0) * 1000));
        retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
      }
    }

    void listenWithRetries();
    return () => {
      controller.abort();
      batch.flush();
    };
  }, [api, queries, batch, state, subscription, paused]);

  function clear(): void {
    batch.flush();
    setRows([]);
  }

  return { rows, connection, dropped, error, clear };
}

/** Only rate limits are worth a retry. */
function isFinal(error: ApiError): boolean {
  return error.status >= 400 && error.status < 500 && !hasCode(error, 'rate_limit_exceeded');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
