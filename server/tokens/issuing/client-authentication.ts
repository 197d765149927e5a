import type { Clients } from '../../credentials/applications/clients.ts';
import type { Client } from '../../credentials/applications/service.ts';
import type { KeyUsage } from '../../credentials/applications/usage.ts';
import type {
  FailedAuthentications,
  FailedSubject,
} from '../../infrastructure/audit/failed-authentications.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { countedAddress } from '../../infrastructure/rate-limits/address.ts';
import { countAll, findBlocked, type LimitedKey } from '../../infrastructure/rate-limits/combined.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { Environments } from './environments.ts';
import type { ClientCredentials } from './token-request.ts';

/**
 * Authentication of OAuth clients by secret, with rate limits per address and per client and address. The latter do not lock
 * a client out when its secret is guessed from another address.
 */
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;

export const RATE_LIMIT_WINDOW_MS = 300_000;

/** Separate limits for token requests, all of which count, and for wrong secrets at the other endpoints. */
export type LimitKind = 'token' | 'secret';
type RequestContext = { address: string | undefined; requestId: string; path: string };

export function createClientAuthentication({
  clients,
  rateLimits,
  usage,
  failedAuthentications,
  environments,
  limits,
}: {
  clients: Clients;
  rateLimits: RateLimits;
  usage: KeyUsage;
  failedAuthentications: FailedAuthentications;
  environments: Environments;
  limits: { rateLimitTokenPerClient: number; rateLimitTokenPerAddress: number };
}) {
  const limitsByKind = { token: limitsOf('token'), secret: limitsOf('secret') };

  function limitsOf(kind: LimitKind): { client: RateLimit; address: RateLimit } {
    const common = { windowMs: RATE_LIMIT_WINDOW_MS, startsInBackground: kind === 'token' };
    return {
      client: { name: `${kind}_client`, limit: limits.rateLimitTokenPerClient, ...common },
      address: { name: `${kind}_address`, limit: limits.rateLimitTokenPerAddress, ...common },
    };
  }

  function addressKey(kind: LimitKind, address: string | undefined): LimitedKey {
    return { limit: limitsByKind[kind].address, key: countedAddress(address) };
  }

  function keysOf(
    kind: LimitKind,
    { clientId }: ClientCredentials,
    address: string | undefined,
  ): LimitedKey[] {
    // All malformed ids share one key: they may have any length and any characters.
    const id = isGuid(clientId) ? clientId : 'malformed';
    const byAddress = addressKey(kind, address);
    return [{ limit: limitsByKind[kind].client, key: `${id} ${byAddress.key}` }, byAddress];
  }

  function recordFailed(context: RequestContext, find: () => Promise<FailedSubject | undefined>): void {
    failedAuthentications.note({ objectType: 'application', reason: 'invalid_client', ...context }, find);
  }

  async function check(
    { clientId, secret }: ClientCredentials,
    context: RequestContext,
  ): Promise<Client | Failure> {
    const client = await clients.authenticate(clientId, secret);
    if (!client) {
      recordFailed(context, () => findAttacked(clientId));
      // The same message for an unknown client and a wrong secret.
      return new Failure('invalid_client', 'client_id or client_secret is incorrect');
    }
    usage.record(client.client_id, context.address);
    return client;
  }

  async function findAttacked(clientId: string): Promise<FailedSubject | undefined> {
    const client = isGuid(clientId) ? await clients.find(clientId) : undefined;
    return client && attacked(client);
  }

  return {
    /** Counts a request that was refused before its credentials were read. */
    countRefused: (kind: LimitKind, address: string | undefined) =>
      countAll(rateLimits, [addressKey(kind, address)]),

    /** Checks memory only, before the body is read. */
    blockedAddress: (kind: LimitKind, address: string | undefined) =>
      findBlocked(rateLimits, [addressKey(kind, address)]),

    /**
     * Bank keys work only at the issuer of their bank's environment, Organization keys at both. The client is authenticated,
     * so the message can tell it the right issuer.
     */
    checkEnvironment(
      client: Client,
      environment: EnvironmentName,
      context: RequestContext,
    ): Failure | undefined {
      const { environment: expected } = client;
      if (expected === null || expected === environment) return undefined;
      recordFailed(context, async () => attacked(client));
      const url = `${environments.issuerOf(expected)}${context.path}`;
      return new Failure('invalid_client', `This key works only in ${expected}; send the request to ${url}`);
    },

    /** Counts every request. The limits are counted and the client is looked up in parallel. */
    async authenticateRateLimited(
      credentials: ClientCredentials,
      context: RequestContext,
    ): Promise<Client | Failure> {
      const keys = keysOf('token', credentials, context.address);
      const known = findBlocked(rateLimits, keys);
      if (known) return known;
      const [refusal, client] = await Promise.all([countAll(rateLimits, keys), check(credentials, context)]);
      return refusal ?? client;
    },

    /** Counts a call with a correct secret that is refused, as a wrong secret: not against the limits of other addresses. */
    countDenied: (credentials: ClientCredentials, address: string | undefined) =>
      countAll(rateLimits, keysOf('secret', credentials, address)),

    /** Counts only wrong secrets. */
    async authenticateCountingFailures(
      credentials: ClientCredentials,
      context: RequestContext,
    ): Promise<Client | Failure> {
      const keys = keysOf('secret', credentials, context.address);
      const refusal = findBlocked(rateLimits, keys);
      if (refusal) return refusal;
      const client = await check(credentials, context);
      if (!isFailure(client)) return client;
      return (await countAll(rateLimits, keys)) ?? client;
    },
  };
}

function attacked({ client_id: id, organization_guid: organizationGuid }: Client): FailedSubject {
  return { id, organizationGuids: [organizationGuid] };
}
