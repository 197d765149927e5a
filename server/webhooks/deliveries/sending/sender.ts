import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
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

/** Imported signing keys that are kept. */
const MAX_KEYS = 10_000;

/** Sends in the calling thread. `createSenderThread` sends in a worker thread. */
export function createSender(deps: { clock: Clock; timers: Timers; resolve: Resolve }): Sender {
  const transport = createTransport(deps);
  const keys = new Map<string, SigningKey>();

  function keyOf(secret: Secret): SigningKey {
    const known = keys.get(secret.reveal());
    if (known) return known;
    const key = signingKeyOf(secret);
    setBounded(keys, secret.reveal(), key, MAX_KEYS);
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
