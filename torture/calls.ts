import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from './answers.ts';
import type { Fate } from './sent.ts';

/** Above the 25 s after which a process gives up a silent connection and answers 503. */
const ANSWER_WITHIN_MS = 45_000;
const RETRY_CONNECTION_AFTER_MS = 500;

export type Call = {
  name: string;
  path: string;
  token: string;
  payload: object;
  /** Without: the guids of the events make a repetition safe. */
  idempotencyKey?: string;
  /** Repeats until it is answered with 2xx, as a careful client does. */
  insists: boolean;
};
/** Of one API process. */
export type Addresses = { url: string; operatorUrl: string };
type Body = Record<string, unknown>;
export type Result = { fate: Fate; body: Body | undefined; calls: number };
export type Caller = ReturnType<typeof createCaller>;

/** Calls the API processes by turns, and records every answer. */
export function createCaller(addresses: readonly Addresses[], stop: AbortSignal) {
  const answers: Answer[] = [];
  const counts = { lost: 0, unreachable: 0, inFlight: 0 };
  let giveUpAt = Number.POSITIVE_INFINITY;
  let turn = 0;

  async function callOnce({ name, path, token, payload, idempotencyKey }: Call) {
    turn = (turn + 1) % addresses.length;
    const { url, operatorUrl } = addresses[turn] as Addresses;
    const startedAt = Date.now();
    try {
      const response = await fetch((path.startsWith('/operator/') ? operatorUrl : url) + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        body: JSON.stringify(payload),
        signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      const { status } = response;
      const text = await response.text().catch((error: unknown) => {
        // A 5xx is judged by its status. Without its body, any other answer is as good as lost.
        if (status < 500) throw error;
        return '';
      });
      const body = parse(text);
      const answer: Answer = {
        ...{ startedAt, endedAt: Date.now(), call: name, status },
        code: body?.message_code as string | undefined,
        retryAfter: response.headers.get('retry-after') ?? undefined,
      };
      answers.push(answer);
      return { answer, body };
    } catch (error) {
      return isUnreachable(error) ? 'unreachable' : 'lost';
    }
  }

  async function repeat(call: Call): Promise<Result> {
    let fate: Fate = 'unsent';
    for (let calls = 1; ; calls += 1) {
      const result = await callOnce(call);
      let waitMs = RETRY_CONNECTION_AFTER_MS;
      if (typeof result === 'string') {
        counts[result] += 1;
        if (result === 'lost') fate = 'unknown';
      } else {
        const { status, retryAfter } = result.answer;
        if (status < 300) return { fate: 'acknowledged', body: result.body, calls };
        fate = 'unknown';
        if (retryAfter === undefined) return { fate, body: result.body, calls };
        waitMs = Number(retryAfter) * 1_000;
      }
      if (!call.insists || stop.aborted || Date.now() > giveUpAt) return { fate, body: undefined, calls };
      await delay(waitMs);
    }
  }

  return {
    answers: answers as readonly Answer[],
    counts: counts as Readonly<typeof counts>,
    async send(call: Call): Promise<Result> {
      counts.inFlight += 1;
      return await repeat(call).finally(() => {
        counts.inFlight -= 1;
      });
    },
    /** Clients that insist repeat until then. */
    giveUpAt(at: number): void {
      giveUpAt = at;
    },
  };
}

/** Undefined if it is not JSON, as in an error page of a proxy. */
function parse(text: string): Body | undefined {
  try {
    return (JSON.parse(text) as Body | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Nothing was sent, so nothing was accepted. */
function isUnreachable(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED';
}
