import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { TokenType } from '../server/tokens/claims.ts';
import { allScopes } from '../server/tokens/scopes.ts';
import type { TestApp } from './app.ts';
import { createCustomer } from './customers.ts';
import { sampleOf } from './json-samples.ts';
import { addressOf, jsonBodyOf, type Operation, readOperations } from './operations.ts';
import { createKey, createTenant, type Tenant } from './tenant.ts';

export const TOKEN_TYPES: readonly TokenType[] = ['organization', 'bank', 'customer', 'user'];
const SANDBOX = 'sandbox';

/** A tenant with a customer of its bank: whoever can hold a token is there. */
export type Callers = Tenant & { customerGuid: string };

export async function createCallers(app: TestApp): Promise<Callers> {
  const tenant = await createTenant(app);
  return { ...tenant, customerGuid: await createCustomer(app, tenant.bankGuid) };
}

/** The same Organization through another bank of it, and a customer of that bank. */
export async function createSiblings(app: TestApp, callers: Callers): Promise<Callers> {
  const path = `/organizations/${callers.organizationGuid}/banks`;
  const { body } = await app.operate('POST', path, { name: 'Second', environment: SANDBOX });
  const bankGuid = String(body.guid);
  const bankKey = await createKey(app, `/banks/${bankGuid}/applications`, { name: 'Key' });
  return { ...callers, bankGuid, bankKey, customerGuid: await createCustomer(app, bankGuid) };
}

type TokenOptions = {
  scopes?: readonly string[];
  ipAllowlist?: readonly string[];
  environment?: 'sandbox' | 'production';
};

/** A token of any type with anything in it, also what the token endpoints would never grant. */
export async function issueToken(
  app: TestApp,
  callers: Callers,
  tokenType: TokenType,
  { scopes = allScopes(), ipAllowlist = [], environment = SANDBOX }: TokenOptions = {},
): Promise<string> {
  const { organizationGuid, organizationKey, bankGuid, bankKey, customerGuid } = callers;
  const holder = {
    organization: { subject: organizationKey.clientId, environment },
    bank: { subject: bankKey.clientId, bankGuid, environment },
    customer: { subject: bankKey.clientId, bankGuid, customerGuid, environment },
    user: { subject: 'f'.repeat(32) },
  }[tokenType];
  const issued = await app.issuer.issue({ tokenType, organizationGuid, scopes, ipAllowlist, ...holder });
  return issued.access_token;
}

export type ApiOperation = Operation & { types: readonly TokenType[]; scopes: readonly string[] };

export async function readApiOperations(app: TestApp): Promise<ApiOperation[]> {
  const operations = (await readOperations(app)).filter(({ path }) => path.startsWith('/api/'));
  return operations.map((operation) => ({
    ...operation,
    types: (operation['x-token-types'] ?? []) as readonly TokenType[],
    scopes: operation.security?.[0]?.bearerToken ?? [],
  }));
}

/**
 * For each path with a parameter: a real object of a tenant, and whether it belongs to a bank (and so to an
 * environment) or to the whole Organization. A new path adds its line here.
 */
type PathObject = { boundTo: 'organization' | 'bank'; create(app: TestApp, owner: Callers): Promise<string> };

const OBJECTS: Record<string, PathObject> = {
  '/api/organization_applications/{client_id}': {
    boundTo: 'organization',
    create: async (app, { organizationGuid }) => {
      const path = `/organizations/${organizationGuid}/applications`;
      return (await createKey(app, path, { name: 'Key', scopes: [] })).clientId;
    },
  },
  '/api/bank_applications/{client_id}': {
    boundTo: 'bank',
    create: async (app, { bankGuid }) =>
      (await createKey(app, `/banks/${bankGuid}/applications`, { name: 'Key', scopes: [] })).clientId,
  },
  '/api/customers/{guid}': { boundTo: 'bank', create: async (_app, { customerGuid }) => customerGuid },
};

export function hasPathObject({ path }: Operation): boolean {
  return path.includes('{');
}

function pathObjectOf({ path }: Operation): PathObject {
  const object = OBJECTS[path];
  if (!object) throw new Error(`testing/api-callers.ts has no line in OBJECTS for ${path} yet`);
  return object;
}

/** Tokens that are let in by the route, and to which an object of the owner is nothing. */
export async function outsidersOf(
  app: TestApp,
  operation: ApiOperation,
  { owner, siblings, stranger }: Record<'owner' | 'siblings' | 'stranger', Callers>,
): Promise<[name: string, token: string][]> {
  const tokens: [string, string][] = [];
  for (const type of operation.types) {
    tokens.push([`a stranger's ${type} token`, await issueToken(app, stranger, type)]);
    if (pathObjectOf(operation).boundTo !== 'bank' || type === 'user') continue;
    const production = await issueToken(app, owner, type, { environment: 'production' });
    tokens.push([`a ${type} token of production`, production]);
    if (type !== 'organization')
      tokens.push([`a sibling ${type} token`, await issueToken(app, siblings, type)]);
  }
  return tokens;
}

/** A call that is right in everything but its token: a real object of the owner, a body that fits. */
export async function validCallOf(app: TestApp, operation: Operation, owner: Callers) {
  const [name] = /(?<=\{)\w+(?=\})/.exec(operation.path) ?? [];
  const given = name === undefined ? {} : { [name]: await pathObjectOf(operation).create(app, owner) };
  const payload = bodyOf(operation, owner);
  return { method: operation.method, url: addressOf(operation, given), ...(payload && { payload }) };
}

/** Valid by the schema; where a value has to mean something, it does. */
function bodyOf(operation: Operation, { bankGuid, customerGuid }: Callers): object | undefined {
  const schema = jsonBodyOf(operation);
  if (!schema) return undefined;
  const meaningful: Record<string, unknown> = {
    bank_guid: bankGuid,
    customer_guid: customerGuid,
    scopes: ['customers:read'],
    ip_allowlist: ['198.35.26.96'],
  };
  const fields = Object.keys(schema.properties ?? {}).filter((name) => name in meaningful);
  const chosen = Object.fromEntries(fields.map((name) => [name, meaningful[name]]));
  return { ...(sampleOf(schema) as object), ...chosen };
}

/** Every route under /api of the servers made from now on, whether the document shows it or not. */
export function watchApiRoutes(): ReadonlySet<string> {
  const routes = new Set<string>();
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ url, method }) => {
      const path = url.replaceAll(/:(\w+)/g, '{$1}');
      if (/^\/api(\/|$)/.test(path)) for (const name of [method].flat()) routes.add(`${name} ${path}`);
    });
  });
  return routes;
}
