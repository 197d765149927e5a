import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { OBJECT_TYPES } from '../server/objects/types.ts';
import type { TokenType } from '../server/tokens/claims.ts';
import { allScopes, peopleScopes } from '../server/tokens/scopes.ts';
import type { TestApp } from './app.ts';
import { createCustomer } from './customers.ts';
import { joinTeam } from './dashboard.ts';
import { insertDeliveries } from './deliveries.ts';
import { publishEvents } from './events.ts';
import { sampleOf } from './json-samples.ts';
import { CRYPTO_ACCOUNT, reportObject } from './objects.ts';
import { addressOf, jsonBodyOf, type Operation, readOperations } from './operations.ts';
import { anySubscription } from './subscriptions.ts';
import { createKey, createTenant, type Tenant } from './tenant.ts';

export const TOKEN_TYPES: readonly TokenType[] = ['organization', 'bank', 'customer', 'user'];
const SANDBOX = 'sandbox';

/** A tenant with a customer of its bank and a Founder: every kind of token holder. */
export type Callers = Tenant & { customerGuid: string; memberGuid: string };

/** The scopes of keys and of users. */
export const EVERY_SCOPE: readonly string[] = [...allScopes(), ...peopleScopes()];

export async function createCallers(app: TestApp): Promise<Callers> {
  const tenant = await createTenant(app);
  const { memberGuid } = await joinTeam(app, tenant.organizationGuid);
  return { ...tenant, customerGuid: await createCustomer(app, tenant.bankGuid), memberGuid };
}

/** The same Organization with another bank, and a customer of that bank. */
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
  /** The time of the user's last second factor; now by default. */
  provedAt?: Date | 'never';
};

/** A token of any type with any claims, also such that the token endpoints never grant. */
export async function issueToken(
  app: TestApp,
  callers: Omit<Callers, 'memberGuid'> & { memberGuid?: string },
  tokenType: TokenType,
  {
    scopes = EVERY_SCOPE,
    ipAllowlist = [],
    environment: chosen,
    provedAt = app.clock.now(),
  }: TokenOptions = {},
): Promise<string> {
  const { organizationGuid, organizationKey, bankGuid, bankKey, customerGuid } = callers;
  const environment = chosen ?? SANDBOX;
  const holder = {
    organization: { subject: organizationKey.clientId, environment },
    bank: { subject: bankKey.clientId, bankGuid, environment },
    customer: { subject: bankKey.clientId, bankGuid, customerGuid, environment },
    // User tokens may be for both environments.
    user: {
      ...{ subject: callers.memberGuid ?? 'f'.repeat(32), environment: chosen },
      ...{ provedAt: provedAt === 'never' ? undefined : provedAt, secondFactor: true },
    },
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
 * For each path with a parameter: an existing object, and whether it belongs to a bank (and so to an environment), to
 * one environment of the Organization, or to the whole Organization. A new path adds its line here.
 */
type PathObject = {
  boundTo: 'organization' | 'environment' | 'bank';
  create(app: TestApp, owner: Callers): Promise<string>;
};

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
  '/api/organizations/{guid}': {
    boundTo: 'organization',
    create: async (_app, { organizationGuid }) => organizationGuid,
  },
  '/api/banks/{guid}': { boundTo: 'bank', create: async (_app, { bankGuid }) => bankGuid },
  '/api/customers/{guid}': { boundTo: 'bank', create: async (_app, { customerGuid }) => customerGuid },
  '/api/files/{guid}': { boundTo: 'bank', create: async (app, owner) => createFileOf(app, owner) },
  ...objectsOfCustomers(),
  '/api/members/{guid}': {
    boundTo: 'organization',
    create: async (app, { organizationGuid }) =>
      (await joinTeam(app, organizationGuid, { role: 'viewer' })).memberGuid,
  },
  '/api/subscriptions/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => (await anySubscription(app, owner)).guid,
  },
  '/api/subscriptions/{guid}/test_event': {
    boundTo: 'environment',
    create: async (app, owner) => (await anySubscription(app, owner)).guid,
  },
  '/api/subscription_events/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => (await publishEvents(app, owner))[0] as string,
  },
  '/api/endpoint_health/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => (await anySubscription(app, owner)).guid,
  },
  '/api/endpoint_health/{guid}/timeline': {
    boundTo: 'environment',
    create: async (app, owner) => (await anySubscription(app, owner)).guid,
  },
  '/api/subscription_deliveries/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) =>
      (await insertDeliveries(app, owner, await anySubscription(app, owner), [{}]))[0] as string,
  },
  '/api/subscription_deliveries/{guid}/request': {
    boundTo: 'environment',
    create: async (app, owner) =>
      (await insertDeliveries(app, owner, await anySubscription(app, owner), [{}]))[0] as string,
  },
  '/api/subscription_recoveries/{guid}': {
    boundTo: 'environment',
    create: async (app, owner) => {
      const { status, body } = await app.call({
        method: 'POST',
        url: '/api/subscription_recoveries',
        token: await issueToken(app, owner, 'user'),
        payload: {
          subscription_guid: (await anySubscription(app, owner)).guid,
          since: '2026-11-01T00:00:00Z',
        },
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      // Over at once: a subscription has only so many at a time.
      while (await app.redeliveries.step());
      return String(body.guid);
    },
  },
  '/api/subscription_recovery_previews/{subscription_guid}': {
    boundTo: 'environment',
    create: async (app, owner) => (await anySubscription(app, owner)).guid,
  },
  ...objectsOfOperator(),
};

/** The paths under which the operator creates something. */
function objectsOfOperator(): Record<string, PathObject> {
  const ofOrganization: PathObject = {
    boundTo: 'organization',
    create: async (_app, { organizationGuid }) => organizationGuid,
  };
  const created = ['banks', 'applications', 'members', 'subscriptions'];
  return {
    ...Object.fromEntries(created.map((name) => [`/operator/organizations/{guid}/${name}`, ofOrganization])),
    '/operator/banks/{guid}/applications': {
      boundTo: 'bank',
      create: async (_app, { bankGuid }) => bankGuid,
    },
    '/operator/members/{guid}/password_reset': {
      boundTo: 'organization',
      create: async (_app, { memberGuid }) => memberGuid,
    },
  };
}

/** Every kind of object except customers. */
function objectsOfCustomers(): Record<string, PathObject> {
  const types = OBJECT_TYPES.filter(({ customer }) => customer !== 'itself');
  return Object.fromEntries(
    types.map(({ name, plural }) => [
      `/api/${plural}/{guid}`,
      { boundTo: 'bank', create: (app, owner) => reportObject(app, name, owner) } satisfies PathObject,
    ]),
  );
}

/** Objects that the fields of a body must refer to, created only when needed. */
const NAMED: Record<string, (app: TestApp, owner: Callers) => Promise<unknown>> = {
  subscription_guid: async (app, owner) => (await anySubscription(app, owner)).guid,
  subscription_event_guid: async (app, owner) => (await publishEvents(app, owner))[0] as string,
  source_account_guid: (app, owner) => reportObject(app, 'account', owner),
  destination_account_guid: (app, owner) => reportObject(app, 'account', owner),
  external_bank_account_guid: (app, owner) => reportObject(app, 'external_bank_account', owner),
  account_guid: (app, owner) => reportObject(app, 'account', owner, CRYPTO_ACCOUNT),
  plan_guid: (app, owner) => reportObject(app, 'plan', owner),
  events: async (_app, { organizationGuid, bankGuid }) => [
    {
      organization_guid: organizationGuid,
      bank_guid: bankGuid,
      event_type: 'transfer.completed',
      object_guid: 'f'.repeat(32),
    },
  ],
};

async function createFileOf(app: TestApp, owner: Callers): Promise<string> {
  const { status, body } = await app.call({
    method: 'POST',
    url: '/api/files',
    token: await issueToken(app, owner, 'user'),
    payload: {
      type: 'other',
      filename: 'some.json',
      customer_guid: owner.customerGuid,
      content_type: 'application/json',
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return String(body.guid);
}
const PARAMETER = /(?<=\{)\w+(?=\})/;

export function hasPathObject({ path }: Operation): boolean {
  return path.includes('{');
}

function pathObjectOf({ path }: Operation): PathObject {
  const object = OBJECTS[path];
  if (!object) throw new Error(`testing/api-callers.ts has no line in OBJECTS for ${path} yet`);
  return object;
}

/** Tokens that the route accepts and that have no access to the owner's object. */
export async function outsidersOf(
  app: TestApp,
  operation: ApiOperation,
  { owner, siblings, stranger }: Record<'owner' | 'siblings' | 'stranger', Callers>,
): Promise<[name: string, token: string][]> {
  const tokens: [string, string][] = [];
  for (const type of operation.types) {
    tokens.push([`a stranger's ${type} token`, await issueToken(app, stranger, type)]);
    const { boundTo } = pathObjectOf(operation);
    if (boundTo === 'organization') continue;
    const production = await issueToken(app, owner, type, { environment: 'production' });
    tokens.push([`a ${type} token of production`, production]);
    if (boundTo === 'bank' && (type === 'bank' || type === 'customer'))
      tokens.push([`a sibling ${type} token`, await issueToken(app, siblings, type)]);
  }
  return tokens;
}

/** The same call for another object. */
export function addressOfOther(operation: Operation, id: string): string {
  const [name = ''] = PARAMETER.exec(operation.path) ?? [];
  return addressOf(operation, { [name]: id });
}

/** A call that is valid except for its token. */
export async function validCallOf(app: TestApp, operation: Operation, owner: Callers) {
  const [name] = PARAMETER.exec(operation.path) ?? [];
  const given = name === undefined ? {} : { [name]: await pathObjectOf(operation).create(app, owner) };
  const payload = await bodyOf(app, operation, owner);
  return { method: operation.method, url: addressOf(operation, given), ...(payload && { payload }) };
}

/** Valid by the schema, with references to existing objects. */
async function bodyOf(app: TestApp, operation: Operation, owner: Callers): Promise<object | undefined> {
  const { bankGuid, customerGuid } = owner;
  const schema = jsonBodyOf(operation);
  if (!schema) return undefined;
  const meaningful: Record<string, unknown> = {
    bank_guid: bankGuid,
    customer_guid: customerGuid,
    scopes: ['customers:read'],
    ip_allowlist: ['198.35.26.96'],
    symbol: 'BTC-USD',
    deliver_amount: 100_000,
  };
  const fields = Object.keys(schema.properties ?? {}).filter((name) => name in meaningful);
  const chosen = Object.fromEntries(fields.map((name) => [name, meaningful[name]]));
  const named = Object.keys(schema.properties ?? {}).map(async (name) => [
    name,
    await NAMED[name]?.(app, owner),
  ]);
  const existing = (await Promise.all(named)).filter(([, guid]) => guid !== undefined);
  return { ...(sampleOf(schema) as object), ...chosen, ...Object.fromEntries(existing) };
}

/** Every route under /api of the servers created from now on, documented or not. */
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
