import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { VERSION } from '../../../sdk/src/version.ts';
import { signWebhook } from '../../../sdk/src/webhooks/sign.ts';
import { CliError, EXIT } from '../failure.ts';

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
/** Codes of OpenSSL: no restart of the local server helps. */
const NOT_TRUSTED = /^(ERR_(TLS|SSL)_|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;

/** The body of a webhook: six fields in fixed order. */
export function bodyOf(event: StreamedEvent): string {
  const { guid, organization_guid, bank_guid, event_type, object_guid, environment } = event;
  return JSON.stringify({ guid, organization_guid, bank_guid, event_type, object_guid, environment });
}

type Options = {
  target: string;
  signingKey: string;
  /** Accepts any certificate. */
  skipVerify: boolean;
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

async function post(event: StreamedEvent, options: Options): Promise<Outcome> {
  const { target, signingKey, now, signal } = options;
  const body = bodyOf(event);
  const signed = await signWebhook(body, signingKey, { guid: event.guid, at: new Date(now()) });
  const headers = { ...signed, 'user-agent': `Portico-Webhooks/${VERSION} (portico listen)` };
  const startedAt = now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const status = await send(body, headers, AbortSignal.any([signal, timeout]), options);
    return { status, durationMs: now() - startedAt };
  } catch (error) {
    signal.throwIfAborted();
    const problem = timeout.aborted ? TIMED_OUT : reasonOf(error);
    if (NOT_TRUSTED.test(problem))
      throw new CliError(
        `${target} has no TLS certificate that is trusted here (${problem}).\nSet NODE_EXTRA_CA_CERTS to the file of its certificate authority, or use --skip-verify.`,
        EXIT.unreachable,
      );
    return { status: undefined, durationMs: now() - startedAt, problem };
  }
}

/** Not by `fetch`: the target is on this machine, where no proxy of the environment leads. */
function send(
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  { target, skipVerify }: Options,
): Promise<number> {
  const common = { method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) } };
  const isTls = target.startsWith('https:');
  return new Promise((resolve, reject) => {
    const request = isTls
      ? requestByHttps(target, { ...common, agent: false, signal, rejectUnauthorized: !skipVerify })
      : requestByHttp(target, { ...common, agent: false, signal });
    request.once('response', (response) => {
      response.on('error', () => undefined).resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject).end(body);
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code === 'ECONNREFUSED' ? 'connection refused' : (code ?? message ?? String(error));
}
