import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Answer } from './exchange.ts';
import { type SigningKey, signedHeaders, signingKeyOf } from './signature.ts';
import { createTransport } from './transport.ts';

/** An unsigned webhook request. */
export type SendRequest = {
  url: string;
  eventGuid: string;
  body: string;
  signingKey: Secret;
  /** The signed timestamp. */
  at: Date;
  allowPrivate: boolean;
  /** The answer has details even if it is a 2xx. */
  detailed?: boolean | undefined;
};

export type Sender = {
  /** Signs and posts. Never rejects: failures are answers too. */
  send(request: SendRequest): Promise<Answer>;
  /** Closes every connection; requests in flight become `unreachable`. */
  close(): Promise<void>;
};

/** Sends in the calling thread. `createSenderThread` sends in a worker thread. */
export function createSender(deps: { clock: Clock; timers: Timers; resolve: Resolve }): Sender {
  const transport = createTransport(deps);
  const keys = new WeakMap<Secret, SigningKey>();

  function keyOf(secret: Secret): SigningKey {
    const known = keys.get(secret);
    if (known) return known;
    const key = signingKeyOf(secret);
    keys.set(secret, key);
    return key;
  }

  return {
    send({ url, eventGuid, body, signingKey, at, allowPrivate, detailed }) {
      const headers = signedHeaders({ key: keyOf(signingKey), eventGuid, body, at });
      return transport.post({ url, headers, body, allowPrivate, detailed });
    },
    close: transport.close,
  };
}

export function notSent(reason: string): Answer {
  return { kind: 'unreachable', reason, durationMs: 0 };
}
