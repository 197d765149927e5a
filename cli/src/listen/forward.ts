import { setTimeout as delay } from 'node:timers/promises';
import { VERSION } from '../../../sdk/src/version.ts';
import { signWebhook } from '../../../sdk/src/webhooks/sign.ts';

export type StreamedEvent = {
  guid: string;
  organization_guid: string;
  bank_guid?: string;
  event_type: string;
  object_guid: string;
  environment: string;
  created_at: string;
  resend?: { subscription_guid: string };
};

export type Outcome = { status: number | undefined; durationMs: number; problem?: string };

/** As for webhooks of the service. */
const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** A proxy in front of a server that restarts answers with these. */
const RESTARTING: readonly number[] = [502, 503, 504];

/** The body of a webhook: six fields in fixed order. */
export function bodyOf(event: StreamedEvent): string {
  const { guid, organization_guid, bank_guid, event_type, object_guid, environment } = event;
  return JSON.stringify({ guid, organization_guid, bank_guid, event_type, object_guid, environment });
}

type Options = {
  target: string;
  signingKey: string;
  now(): number;
  signal: AbortSignal;
  /** Called once while the server cannot be reached. */
  onWaiting(problem: string): void;
};

/** Posts an event as a webhook. While the local server restarts, the request is repeated until it answers. */
export async function forward(event: StreamedEvent, options: Options): Promise<Outcome> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let isFirst = true; ; isFirst = false) {
    const outcome = await post(event, options);
    const isAway =
      outcome.status === undefined ? outcome.problem !== TIMED_OUT : RESTARTING.includes(outcome.status);
    if (!isAway) return outcome;
    if (isFirst) options.onWaiting(outcome.problem ?? `status ${outcome.status}`);
    await delay(pauseMs, undefined, { signal: options.signal });
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}

const TIMED_OUT = `no answer within ${TIMEOUT_MS / 1_000} s`;

async function post(event: StreamedEvent, { target, signingKey, now, signal }: Options): Promise<Outcome> {
  const body = bodyOf(event);
  const headers = await signWebhook(body, signingKey, { guid: event.guid, at: new Date(now()) });
  const startedAt = now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: { ...headers, 'user-agent': `Portico-Webhooks/${VERSION} (portico listen)` },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return { status: response.status, durationMs: now() - startedAt };
  } catch (error) {
    signal.throwIfAborted();
    const durationMs = now() - startedAt;
    return { status: undefined, durationMs, problem: timeout.aborted ? TIMED_OUT : reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: string; message?: string };
  return code === 'ECONNREFUSED' ? 'connection refused' : (code ?? message ?? String(cause));
}
