import { ConfigurationError } from '../errors.ts';
import type { Schemas } from '../generated/schema.ts';
import { exchange } from './exchange.ts';
import { readJson } from './responses.ts';
import { withRetries } from './retries.ts';
import { abortable, type Runtime, sleep } from './runtime.ts';

export type Environment = 'sandbox' | 'production';
export type Token = Schemas['Token'];

export type Tokens = {
  get(options: { signal: AbortSignal | undefined; maxRetries: number }): Promise<string>;
  /** Whether another token can be had instead of this one, which the service refused. */
  renew(refused: string): boolean;
};

export type KeyPair = {
  clientId: string;
  clientSecret: string;
  scope: string;
  authUrl: string;
  environment: Environment;
  timeoutMs: number;
};

/** A token is renewed in the last part of its life, but not more than a minute before its end. */
const RENEWAL_SHARE = 0.2;
const MAX_RENEWAL_MS = 60_000;
/** How long a call with a valid token waits for the renewal, which goes on without it. */
const RENEWAL_WAIT_MS = 1_000;
/** While renewals fail and the old token is still valid. */
const RENEWAL_PAUSE_MS = 5_000;

type Current = { value: string; renewAt: number; expiresAt: number };

/** One token for all callers: those that come while it is requested share the request. */
export function createTokens(keyPair: KeyPair, runtime: Runtime): Tokens {
  let current: Current | undefined;
  let pending: Promise<string> | undefined;

  async function request(): Promise<string> {
    const requestedAt = runtime.now();
    const { access_token: value, expires_in } = await requestToken(keyPair, runtime);
    const lifetimeMs = expires_in * 1_000;
    const expiresAt = requestedAt + lifetimeMs;
    const renewAt = expiresAt - Math.min(MAX_RENEWAL_MS, lifetimeMs * RENEWAL_SHARE);
    current = { value, renewAt, expiresAt };
    return value;
  }

  /** With a delay the pause is shared too, so that many callers repeat a failed request once. */
  function share(delayMs = 0): Promise<string> {
    if (pending) return pending;
    const started = delayMs > 0 ? sleep(delayMs, runtime, undefined).then(request) : request();
    pending = started.finally(() => {
      pending = undefined;
    });
    // Without this a failure is an unhandled rejection when every caller has stopped waiting.
    pending.catch(() => undefined);
    return pending;
  }

  async function renewedOrKnown(
    known: Current,
    renewal: Promise<string>,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const wait = new AbortController();
    const stop = runtime.after(RENEWAL_WAIT_MS, () => wait.abort());
    try {
      return await abortable(renewal, wait.signal);
    } catch {
      signal?.throwIfAborted();
      // Refused or expired meanwhile.
      if (known !== current || runtime.now() >= known.expiresAt) return renewal;
      known.renewAt = Math.min(known.expiresAt, runtime.now() + RENEWAL_PAUSE_MS);
      return known.value;
    } finally {
      stop();
    }
  }

  return {
    async get({ signal, maxRetries }) {
      const known = current;
      if (known && runtime.now() < known.renewAt) return known.value;
      const renewal = withRetries(() => abortable(share(), signal), {
        maxRetries,
        runtime,
        signal,
        pause: (delayMs) => void share(delayMs),
      });
      return known && runtime.now() < known.expiresAt ? renewedOrKnown(known, renewal, signal) : renewal;
    },
    renew(refused) {
      if (current?.value === refused) current = undefined;
      return true;
    },
  };
}

/** A token that the caller has, such as a customer token; a function can renew it. */
export function givenToken(token: string | (() => string | Promise<string>)): Tokens {
  return {
    async get({ signal }) {
      const value = typeof token === 'string' ? token : await abortable(Promise.resolve(token()), signal);
      if (!value) throw new ConfigurationError('token is required: its function returned none');
      return value;
    },
    renew: () => typeof token === 'function',
  };
}

async function requestToken(keyPair: KeyPair, runtime: Runtime): Promise<Token> {
  const { clientId, clientSecret, scope, authUrl, environment, timeoutMs } = keyPair;
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
      scope,
    }),
    timeoutMs,
  };
  const { data } = await exchange(`${authUrl}/oauth/token`, init, runtime, readJson<Token>);
  if (!data?.access_token)
    throw new ConfigurationError(
      `${authUrl} issued no token; set authUrl to the address of the token issuer`,
    );
  // The address of the issuer selects the environment, and an unknown address is the sandbox: a wrong one must not pass.
  const issued = environmentOf(data.access_token);
  if (issued !== undefined && issued !== environment)
    throw new ConfigurationError(
      `${authUrl} issues tokens of the environment ${issued}, not ${environment}; set authUrl to the token issuer of ${environment}`,
    );
  return data;
}

/** The claim of the JWT, which only the service verifies; undefined if the token is none. */
function environmentOf(token: string): string | undefined {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).environment;
  } catch {
    return undefined;
  }
}
