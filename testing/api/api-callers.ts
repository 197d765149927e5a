import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { TokenType } from '../../server/tokens/claims.ts';
import { allScopes, peopleScopes } from '../../server/tokens/scopes.ts';
import type { TestApp } from '../app/app.ts';
import { createKey, createTenant, type Tenant } from '../app/tenant.ts';
import { createCustomer } from '../objects/customers.ts';
import { joinTeam } from '../people/dashboard.ts';
import { type Operation, readOperations } from './operations.ts';

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
