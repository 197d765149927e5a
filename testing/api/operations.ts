import assert from 'node:assert/strict';
import type { InjectOptions } from 'fastify';
import { inlineReferences } from '../../server/infrastructure/http/openapi/references.ts';
import { type Answer, assertError, OPERATOR_TOKEN, type TestApp } from '../app/app.ts';
import { createTenant, everyScope, tokenOf, userToken } from '../app/tenant.ts';
import { type Browser, joinTeam } from '../people/dashboard.ts';
import { type JsonSchema, sampleOf } from './json-samples.ts';

/** The routes of both documents: a test over these covers routes that are added later. */
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema };
type Content = Record<string, { schema: JsonSchema }>;
export type Operation = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS';
  path: string;
  operationId: string;
  summary?: string;
  tags?: readonly string[];
  security?: readonly Record<string, readonly string[]>[];
  'x-token-types'?: readonly string[];
  'x-feature'?: string;
  'x-fresh-proof'?: boolean;
  'x-shows-secret'?: boolean;
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

type Document = { paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>> };

/** Of the partners' calls, and of those of the operator and the dashboard. */
export const DOCUMENT_PATHS = ['/openapi.json', '/operator/openapi.json'] as const;

export async function readOperations(app: TestApp): Promise<Operation[]> {
  const answers = await Promise.all(DOCUMENT_PATHS.map((url) => app.call({ url })));
  const documents = answers.map(({ body }) => inlineReferences(body as unknown as Document));
  return documents
    .flatMap(({ paths }) => Object.entries(paths))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase() as Operation['method'],
      })),
    );
}

/** For tests of rejections, which count against the limits. */
export const UNLIMITED = {
  PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '1000000',
  PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000000',
};

/**
 * For values that try a rule which several routes share (a schema, a parser): all of them for its first use, and the
 * first `later` ones to show that another route has the same rule.
 */
export function createSharedRules() {
  const tried = new Set<string>();
  return <Value>(rule: unknown, values: readonly Value[], { later = 1 } = {}): readonly Value[] => {
    const key = JSON.stringify(rule);
    if (tried.has(key)) return values.slice(0, later);
    tried.add(key);
    return values;
  };
}

/** The part of the API that a route belongs to: its routes share their guards and parsers. */
export function partOf({ path }: Operation): string {
  return path.split('/')[1] ?? '';
}

const INPUT_REFUSALS = [400, 413, 415];
/** Fewer than a member may send in a minute, since the clock stands still. */
const CALLS_OF_MEMBER = 250;

/** The operations, each with a call that has valid credentials, because authentication precedes every other check. */
export async function createOperations(app: TestApp) {
  const tenant = await createTenant(app);
  const tokens: Record<string, string> = {
    operator: OPERATOR_TOKEN,
    organization: await tokenOf(app, tenant.organizationKey, everyScope('organization')),
    bank: await tokenOf(app, tenant.bankKey, everyScope('bank')),
    user: await userToken(app, tenant.organizationGuid),
  };
  let reader = await joinTeam(app, tenant.organizationGuid);
  let { memberGuid } = await joinTeam(app, tenant.organizationGuid);

  const nowhere = { address: undefined, userAgent: undefined, requestId: 'test' };
  async function startSession(): Promise<Browser> {
    const { secret } = await app.database.transaction((transaction) =>
      app.login.sessions.start(transaction, memberGuid, nowhere, { secondFactor: false }),
    );
    return { cookie: `portico_session=${secret.reveal()}` };
  }

  /** For changing operations, which may end their session: replaced after each call that was not refused for its input. */
  let writer: Browser | undefined;
  let callsInSession = 0;
  async function callInSession(call: InjectOptions): Promise<Answer> {
    callsInSession += 1;
    if (callsInSession % CALLS_OF_MEMBER === 0) {
      reader = await joinTeam(app, tenant.organizationGuid);
      ({ memberGuid } = await joinTeam(app, tenant.organizationGuid));
      writer = undefined;
    }
    const isReading = call.method === 'GET';
    const browser = isReading ? reader : (writer ?? (await startSession()));
    writer = isReading ? writer : undefined;
    const headers = { 'content-type': 'application/json', ...browser, ...call.headers };
    const answer = await app.call({ ...call, headers });
    if (!isReading && INPUT_REFUSALS.includes(answer.status)) writer = browser;
    return answer;
  }

  async function call(operation: Operation, options: InjectOptions = {}): Promise<Answer> {
    const holder = holderFor(operation);
    const call = { method: operation.method, url: addressOf(operation), ...options };
    if (holder === 'session') return callInSession(call);
    return app.call({ ...call, ...(holder === undefined ? {} : { token: tokens[holder] as string }) });
  }

  return { operations: await readOperations(app), call, tenant };
}

/** Times at the limits of calendars, guids and PostgreSQL, in order. */
export const EXTREME_MOMENTS = [
  '-271821-04-20T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:00:00.001Z',
  '2016-12-31T23:59:60Z',
  '2026-11-15\u202800:00:00Z',
  '2038-01-19T03:14:08Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '+275760-09-13T00:00:00Z',
  '0000-01-01',
  '9999-12-31',
] as const;

const MAX_LOG_LINE_CHARACTERS = 16_384;

/** Asserts that the log has no error and no line of many kilobytes. */
export function assertQuietLog({ logged }: TestApp): void {
  for (const line of logged) {
    assert.ok(line.length <= MAX_LOG_LINE_CHARACTERS, `a line of ${line.length} characters`);
    assert.doesNotMatch(line, /"msg":"(internal error|the database refused)/, line.slice(0, 500));
  }
}

/** The token holder for an operation, by its `security`. A new kind of credentials is added here. */
function holderFor({ operationId, security = [], ...operation }: Operation): string | undefined {
  const [scheme] = security.flatMap((alternative) => Object.keys(alternative));
  // The token endpoints: the credentials are in the body, together with the test's input.
  if (scheme === undefined || scheme === 'clientCredentials') return undefined;
  if (scheme === 'operatorToken') return 'operator';
  if (scheme === 'session') return 'session';
  if (scheme === 'bearerToken') return operation['x-token-types']?.[0];
  throw new Error(`${operationId} is secured by ${scheme}, which holderFor() does not know yet`);
}

/** The URL of an operation, with well-formed path parameters by default. */
export function addressOf({ path, parameters = [] }: Operation, given: Record<string, string> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    return encodeURIComponent(given[name] ?? String(sampleOf(parameter?.schema ?? {})));
  });
}

export function jsonBodyOf(operation: Operation): JsonSchema | undefined {
  return operation.requestBody?.content['application/json']?.schema;
}

/** Takes raw bytes instead of a document. */
export function takesBytes({ requestBody }: Operation): boolean {
  const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => Object.keys(schema));
  return schemas.length > 0 && schemas.every((keywords) => keywords.length === 0);
}

export function queryOf({ parameters = [] }: Operation): Parameter[] {
  return parameters.filter((parameter) => parameter.in === 'query');
}

/** The rejection of another content type: the dashboard routes treat it as a cross-site form. */
export function refusalOfType({ path }: Operation): Refusal {
  return path.startsWith('/dashboard/')
    ? { status: 403, code: 'csrf_refused' }
    : { status: 415, code: 'unsupported_media_type' };
}

export type Refusal = { status: number; code: string; names?: string };

export function invalid(names: string): Refusal {
  return { status: 400, code: 'invalid_parameter', names };
}

/**
 * Asserts the exact error body of the contract. At the token endpoints every invalid request is `invalid_request`, with
 * the message also as `error_description`.
 */
export function assertRefused(operation: Operation, answer: Answer, { status, code, names }: Refusal): void {
  const described = operation.responses[status]?.content?.['application/json']?.schema.properties ?? {};
  const isOAuth = 'error_description' in described;
  assertError(answer, status, isOAuth && status === 400 ? 'invalid_request' : code);
  const { error, message_code, message, ...rest } = answer.body;
  assert.deepEqual(rest, isOAuth ? { error_description: message } : {});
  assert.doesNotMatch(String(message), /\n|\.ts\b|node_modules|select |insert /);
  if (names !== undefined) assert.ok(String(message).includes(names), `"${message}" does not name ${names}`);
}
