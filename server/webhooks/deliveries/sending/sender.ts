import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { type SigningKey, signedHeaders, signingKeyOf } from './signature.ts';
import { type Answer, createTransport } from './transport.ts';

/** What goes to an endpoint, before it is signed. */
export type SendRequest = {
  url: string;
  eventGuid: string;
  body: string;
  signingKey: Secret;
  /** The moment that is signed. */
  at: Date;
  allowPrivate: boolean;
};

export type Sender = {
  /** Signs and posts. Never rejects: what goes wrong is an answer too. */
  send(request: SendRequest): Promise<Answer>;
  /** Ends every connection at once; what is under way becomes `unreachable`. */
  close(): Promise<void>;
};

/** In the thread of whoever calls it, and in that one's time. */
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
    send({ url, eventGuid, body, signingKey, at, allowPrivate }) {
      const headers = signedHeaders({ key: keyOf(signingKey), eventGuid, body, at });
      return transport.post({ url, headers, body, allowPrivate });
    },
    close: transport.close,
  };
}

export function notSent(reason: string): Answer {
  return { kind: 'unreachable', reason, durationMs: 0 };
}
