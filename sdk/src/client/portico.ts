import { ConfigurationError } from '../errors.ts';
import { createFiles, type Files } from '../files/files.ts';
import {
  type EventObjects,
  type Operations,
  RESOURCE_NAMES,
  type Resources,
} from '../generated/resources.ts';
import type { Scope } from '../generated/scopes.ts';
import type { EventType, WebhookEvent } from '../webhooks/event.ts';
import { addressesOf } from './addresses.ts';
import { type Customers, createCustomers } from './customers.ts';
import { segment } from './paths.ts';
import { createResource } from './resources.ts';
import type { ApiResponse } from './responses.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import { createTokens, type Environment, givenToken, type Tokens } from './tokens.ts';
import {
  type CreateOptions,
  createTransport,
  type QueryValue,
  type RequestOptions,
  type UpdateOptions,
} from './transport.ts';

type Addresses = {
  /** Default: `sandbox`. */
  environment?: Environment;
  /** The address of the API, for example `https://api.example.com`. Default: the local demo. */
  baseUrl?: string;
  /** The address of the token issuer of the environment. Default: `baseUrl`, for the sandbox. */
  authUrl?: string;
};
type Defaults = {
  /** For one attempt of a call. Default: 30,000. */
  timeoutMs?: number;
  /** For reads, and for creations, which carry an `Idempotency-Key`. Default: 3. */
  maxRetries?: number;
  /** Default: `fetch` of the runtime. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
};

/** A key pair with the scopes to ask for, or a token that you have. */
export type PorticoOptions = Addresses &
  Defaults &
  (
    | { clientId: string; clientSecret: string; scopes: readonly Scope[]; token?: never }
    | {
        token: string | (() => string | Promise<string>);
        clientId?: never;
        clientSecret?: never;
        scopes?: never;
      }
  );

type ObjectName<Type extends EventType> = Type extends `${infer Name}.${string}` ? Name : never;
/** The object that events of this type are about. */
export type EventObject<Type extends EventType> = EventObjects[ObjectName<Type> & keyof EventObjects];

/** The parts of a call that its path or the service requires are required. */
type Parts<Operation> = {
  [Part in keyof Operation as Part extends 'result' ? never : Part]: Operation[Part];
};
type CallOptions = CreateOptions & UpdateOptions & { headers?: Readonly<Record<string, string>> };
type CallArguments<Operation> =
  Record<string, never> extends Parts<Operation>
    ? [call?: Parts<Operation> & CallOptions]
    : [call: Parts<Operation> & CallOptions];

type Calls = {
  /** Any call of the API by its method and path, with the headers of its answer: `request('GET /api/files/{guid}', …)`. */
  request<Route extends keyof Operations>(
    route: Route,
    ...call: CallArguments<Operations[Route]>
  ): Promise<ApiResponse<Operations[Route]['result']>>;
  /** An authorized `GET` of any path, for streams and downloads. The body has no time limit; `signal` ends it. */
  stream(
    path: string,
    options?: RequestOptions & { headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** The object of a webhook or event as it is now. */
  fetchObject<Type extends EventType>(
    event: { event_type: Type; object_guid: string },
    options?: RequestOptions,
  ): Promise<EventObject<Type>>;
  /** The present access token, renewed if needed. */
  token(options?: Pick<RequestOptions, 'signal' | 'maxRetries'>): Promise<string>;
};

/** A client of the API. One client serves a whole program: its calls share one token. */
export type Portico = Omit<Resources, 'customers' | 'files'> & Calls & { customers: Customers; files: Files };

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RETRIES = 3;

type AnyCall = CallOptions & {
  path?: Record<string, string>;
  query?: Record<string, QueryValue>;
  body?: unknown;
};

/** The resources are the same few functions, so they are created from their names; the types tell them apart. */
export const Portico = class {
  constructor(options: PorticoOptions, runtime: Runtime = systemRuntime) {
    Object.assign(
      this,
      createClient(options, options.fetch ? { ...runtime, fetch: options.fetch } : runtime),
    );
  }
} as unknown as new (
  options: PorticoOptions,
  runtime?: Runtime,
) => Portico;

function createClient(options: PorticoOptions, runtime: Runtime): object {
  const {
    environment = 'sandbox',
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxRetries = DEFAULT_MAX_RETRIES,
  } = options;
  const { baseUrl, authUrl } = addressesOf(environment, options);
  const tokens = tokensOf(options, { environment, authUrl, timeoutMs }, runtime);
  const transport = createTransport({ baseUrl, tokens, timeoutMs, maxRetries, runtime });
  const calls: Record<keyof Calls, unknown> = {
    async request(route: string, { path, ...call }: AnyCall = {}) {
      // At the first space only: a query may contain others.
      const [, method = '', template = ''] = /^(\S+) (.*)$/.exec(route) ?? [];
      return transport.json({ ...call, method, path: fill(template, path) });
    },
    stream: (path: string, options: CallOptions = {}) =>
      transport.stream({ ...options, method: 'GET', path }),
    async fetchObject({ event_type, object_guid }: WebhookEvent, options: RequestOptions = {}) {
      const path = `/api/${segment(event_type.split('.')[0] ?? '')}s/${segment(object_guid)}`;
      return (await transport.json({ ...options, method: 'GET', path })).data;
    },
    token: ({ signal, maxRetries: own = maxRetries }: RequestOptions = {}) =>
      tokens.get({ signal, maxRetries: own }),
  };
  const resources = RESOURCE_NAMES.map((name) => [camelCase(name), createResource(transport, name)]);
  return {
    ...Object.fromEntries(resources),
    ...calls,
    customers: createCustomers(transport),
    files: createFiles(transport),
  };
}

function tokensOf(
  { token, clientId, clientSecret, scopes }: PorticoOptions,
  settings: { environment: Environment; authUrl: string; timeoutMs: number },
  runtime: Runtime,
): Tokens {
  if (token) return givenToken(token);
  if (!clientId || !clientSecret)
    throw new ConfigurationError('clientId and clientSecret, or token, are required');
  if (!scopes?.length) throw new ConfigurationError('scopes are required: name those that your calls need');
  return createTokens({ ...settings, clientId, clientSecret, scope: scopes.join(' ') }, runtime);
}

function fill(template: string, values: Record<string, string> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => segment(values[name] ?? ''));
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
}
