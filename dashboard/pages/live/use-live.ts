import { useEffect, useRef, useState } from 'react';
import type { Api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { readMessages } from '../../api/server-sent-events.ts';
import type { LiveDelivery } from '../../api/types.ts';

/** What is further back can be found under Events. */
const MAX_SHOWN = 200;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;

export type LiveRow = LiveDelivery & { key: number };
export type Connection = 'connecting' | 'open' | 'lost';

/** Deliveries as they happen, newest first. The stream ends with its token, and is opened again with the next one. */
export function useLive(api: Api, paused: boolean) {
  const [rows, setRows] = useState<readonly LiveRow[]>([]);
  const [connection, setConnection] = useState<Connection>('connecting');
  const [dropped, setDropped] = useState(0);
  const [refusal, setRefusal] = useState<Problem>();
  /** Rows stay over a pause, so their keys go on after it. */
  const nextKey = useRef(0);

  useEffect(() => {
    if (paused) return;
    const stop = new AbortController();
    let waitMs = FIRST_WAIT_MS;

    async function listen(): Promise<void> {
      const response = await api.open('/subscription_deliveries/live', { signal: stop.signal });
      setConnection('open');
      waitMs = FIRST_WAIT_MS;
      for await (const { event, data } of readMessages(response)) {
        const message = JSON.parse(data) as LiveDelivery & { dropped?: number };
        const row = { ...message, key: nextKey.current++ };
        if (event === 'dropped') setDropped((sum) => sum + (message.dropped ?? 0));
        else setRows((shown) => [row, ...shown].slice(0, MAX_SHOWN));
      }
    }

    async function keepListening(): Promise<void> {
      while (!stop.signal.aborted) {
        const problem = await listen().catch((error: unknown) => error);
        if (stop.signal.aborted) return;
        setConnection('lost');
        if (problem instanceof Problem && problem.status === 403) return setRefusal(problem);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        waitMs = Math.min(MAX_WAIT_MS, waitMs * 2);
      }
    }

    void keepListening();
    return () => stop.abort();
  }, [api, paused]);

  return { rows, connection, dropped, refusal, clear: () => setRows([]) };
}
