import { ApiError, PorticoError } from '../errors.ts';
import { VERSION } from '../version.ts';
import { exchange } from './exchange.ts';
import { checkPath } from './paths.ts';
import { type ApiResponse, readJson } from './responses.ts';
import { withRetries } from './retries.ts';
import type { Runtime } from './runtime.ts';
import type { Tokens } from './tokens.ts';

export type RequestOptions = {
  /** Ends the call, its retries and its pauses. */
  signal?: AbortSignal | undefined;
  /** For one attempt. Default: `timeoutMs` of the client. */
  timeoutMs?: number | undefined;
  /** Default: `maxRetries` of the client. */
  maxRetries?: number | undefined;
};
export type CreateOptions = RequestOptions & {
  /** Default: a random one. Give one to repeat a creation after a restart of your program. */
  idempotencyKey?: string | undefined;
};
export type UpdateOptions = RequestOptions & {
  /** The `etag` of the version that you change; another version is not overwritten. */
  ifMatch?: string | undefined;
};

export type QueryValue = string | number | boolean | Date | readonly (string | number)[] | undefined;
type Call = CreateOptions &
  UpdateOptions & {
    method: string;
    path: string;
    query?: Readonly<Record<string, QueryValue>>;
    body?: unknown;
    headers?: Readonly<Record<string, string>>;
  };

export type Transport = {
  runtime: Runtime;
  json<Data>(call: Call): Promise<ApiResponse<Data>>;
  /** The answer as it arrives, for streams and downloads; its body has no time limit. */
  stream(call: Call): Promise<Response>;
};

export type TransportOptions = {
  baseUrl: string;
  tokens: Tokens;
  timeoutMs: number;
  maxRetries: number;
  runtime: Runtime;
};

export function createTransport({ baseUrl, tokens, runtime, ...defaults }: TransportOptions): Transport {
  async function send<T>(call: Call, read: (response: Response) => T | Promise<T>): Promise<T> {
    const { method, path, query, body, signal } = call;
    const { timeoutMs = defaults.timeoutMs, maxRetries = defaults.maxRetries } = call;
    checkPath(path);
    const url = `${baseUrl}${path}${queryString(query)}`;
    const headers = headersOf(call);
    const idempotencyKey = headers['idempotency-key'];
    const init = {
      method,
      timeoutMs,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    let renewed = false;
    let unconfirmed: unknown;
    let final: unknown;

    async function getToken(): Promise<string> {
      try {
        return await tokens.get({ signal, maxRetries });
      } catch (error) {
        signal?.throwIfAborted();
        // Callers share the error of a token request, so it cannot have the key of a creation that was sent before.
        final = unconfirmed ?? error;
        throw final;
      }
    }

    async function attempt(): Promise<T> {
      const token = await getToken();
      try {
        const authorized = { ...init, headers: { ...headers, authorization: `Bearer ${token}` } };
        return await exchange(url, authorized, runtime, read);
      } catch (error) {
        // A refused token changed nothing, so every method can be repeated.
        if (error instanceof ApiError && error.status === 401 && !renewed && tokens.renew(token)) {
          renewed = true;
          return attempt();
        }
        if (error instanceof PorticoError && idempotencyKey !== undefined)
          unconfirmed = Object.assign(error, { idempotencyKey });
        throw error;
      }
    }

    return withRetries(attempt, {
      maxRetries: isRepeatable(method, headers) ? maxRetries : 0,
      runtime,
      signal,
      isFinal: (error) => error === final,
    });
  }

  return {
    runtime,
    json: <Data>(call: Call) => send(call, readJson<Data>),
    stream: (call) => send(call, (response) => response),
  };
}

/** Reads, and creations that the service does once for each key. */
function isRepeatable(method: string, headers: Readonly<Record<string, string>>): boolean {
  return method === 'GET' || method === 'HEAD' || 'idempotency-key' in headers;
}

function headersOf({ method, path, body, idempotencyKey, ifMatch, headers }: Call): Record<string, string> {
  const key =
    idempotencyKey ?? (method === 'POST' && path.startsWith('/api/') ? crypto.randomUUID() : undefined);
  return {
    accept: 'application/json',
    // A browser names itself, and another header would need permission of the service (CORS).
    ...('document' in globalThis ? {} : { 'user-agent': `portico-sdk/${VERSION}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...headers,
  };
}

function queryString(query: Call['query'] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : String(value)]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
