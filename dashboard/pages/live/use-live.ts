import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, hasCode } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import { readMessages } from '../../api/server-sent-events.ts';
import type { LiveDelivery } from '../../api/types.ts';
import { SESSION_KEY } from '../../session/session.ts';

/** What is further back can be found under Events. */
const MAX_SHOWN = 200;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;

export type LiveRow = LiveDelivery & { key: number };
export type Connection = 'connecting' | 'open' | 'lost' | 'refused';

type Wanted = { state: string | undefined; subscription: string | undefined; paused: boolean };

/** Deliveries as they happen, newest first. The stream ends with its token, and is opened again with the next one. */
export function useLive(api: Api, { state, subscription, paused }: Wanted) {
  const queries = useQueryClient();
  const [rows, setRows] = useState<readonly LiveRow[]>([]);
  const [connection, setConnection] = useState<Connection>('connecting');
  const [dropped, setDropped] = useState(0);
  const [refusal, setRefusal] = useState<ApiError>();
  /** Rows stay over a pause, so their keys go on after it. */
  const nextKey = useRef(0);

  useEffect(() => {
    if (paused) return;
    const stop = new AbortController();
    let waitMs = FIRST_WAIT_MS;
    setRefusal(undefined);
    setConnection('connecting');

    async function listen(): Promise<void> {
      const query = { state, subscription_guid: subscription };
      const response = await api.open('/subscription_deliveries/live', { query, signal: stop.signal });
      setConnection('open');
      setRefusal(undefined);
      waitMs = FIRST_WAIT_MS;
      for await (const { event, data } of readMessages(response)) {
        const message = JSON.parse(data) as LiveDelivery & { dropped?: number };
        const row = { ...message, key: nextKey.current++ };
        if (event === 'dropped') setDropped((sum) => sum + (message.dropped ?? 0));
        else setRows((shown) => [row, ...shown].slice(0, MAX_SHOWN));
      }
    }

    /** The session may be over, or the role another one by now: who is logged in is asked anew, as after any call. */
    async function giveUp(refused: ApiError): Promise<void> {
      setConnection('refused');
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      if (!stop.signal.aborted) setRefusal(refused);
    }

    async function keepListening(): Promise<void> {
      while (!stop.signal.aborted) {
        const problem = await listen().catch((error: unknown) => error);
        if (stop.signal.aborted) return;
        const refused = problem instanceof ApiError ? problem : undefined;
        if (refused && isFinal(refused)) return await giveUp(refused);
        setConnection('lost');
        setRefusal(hasCode(refused, 'rate_limit_exceeded') ? refused : undefined);
        await sleep(Math.max(waitMs, (refused?.retryAfterSeconds ?? 0) * 1000));
        waitMs = Math.min(MAX_WAIT_MS, waitMs * 2);
      }
    }

    void keepListening();
    return () => stop.abort();
  }, [api, queries, state, subscription, paused]);

  return { rows, connection, dropped, refusal, clear: () => setRows([]) };
}

/** What the service refused, it will refuse again; only a limit is over after a while. */
function isFinal(problem: ApiError): boolean {
  return problem.status >= 400 && problem.status < 500 && !hasCode(problem, 'rate_limit_exceeded');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
