import type { Clients } from '../../credentials/applications/clients.ts';
import type { Client } from '../../credentials/applications/service.ts';
import type { KeyUsage } from '../../credentials/applications/usage.ts';
import type {
  FailedAuthentications,
  FailedSubject,
} from '../../infrastructure/audit/failed-authentications.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { countedAddress } from '../../infrastructure/rate-limits/address.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { ClientCredentials } from './token-request.ts';

/**
 * Who the client is, by its secret, and how often it may be asked. The limits are per address, and per client
 * *and* address: someone who guesses one client's secret elsewhere does not lock that client out.
 */
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;

export const RATE_LIMIT_WINDOW_MS = 300_000;

type Use = { limit: RateLimit; key: string };
/** Where a request came from, and to which endpoint. */
export type From = { address: string | undefined; requestId: string; path: string };

export function createClientAuthentication({
  clients,
  rateLimits,
  usage,
  failedAuthentications,
  limits,
}: {
  clients: Clients;
  rateLimits: RateLimits;
  usage: KeyUsage;
  failedAuthentications: FailedAuthentications;
  limits: { rateLimitTokenPerClient: number; rateLimitTokenPerAddress: number };
}) {
  /** Calls of the token endpoint and wrong secrets elsewhere are counted apart: one does not use up the other. */
  const calls = limitsOf('token');
  const wrongSecrets = limitsOf('secret');

  function limitsOf(name: string): { client: RateLimit; address: RateLimit } {
    const windowMs = RATE_LIMIT_WINDOW_MS;
    return {
      client: { name: `${name}_client`, limit: limits.rateLimitTokenPerClient, windowMs },
      address: { name: `${name}_address`, limit: limits.rateLimitTokenPerAddress, windowMs },
    };
  }

  function usesOf(
    { client, address }: ReturnType<typeof limitsOf>,
    { clientId }: ClientCredentials,
    source: string | undefined,
  ): Use[] {
    const from = countedAddress(source);
    // What cannot be an id of ours is counted as one: it may be of any length and hold any character.
    const id = isGuid(clientId) ? clientId : 'malformed';
    return [
      { limit: client, key: `${id} ${from}` },
      { limit: address, key: from },
    ];
  }

  function blocked(uses: readonly Use[]): Failure | undefined {
    for (const { limit, key } of uses) {
      const refusal = rateLimits.blocked(limit, key);
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** Nothing is counted once one of the limits is known to be used up: a flood under ever new ids writes nothing. */
  async function count(uses: readonly Use[]): Promise<Failure | undefined> {
    const refusal = blocked(uses);
    if (refusal) return refusal;
    const counted = await Promise.all(uses.map(({ limit, key }) => rateLimits.use(limit, key)));
    return counted.find((result) => result !== undefined);
  }

  function failed(from: From, find: () => Promise<FailedSubject | undefined>): Failure {
    failedAuthentications.note({ objectType: 'application', reason: 'invalid_client', ...from }, find);
    return invalidClient();
  }

  async function check({ clientId, secret }: ClientCredentials, from: From): Promise<Client | Failure> {
    const client = await clients.authenticate(clientId, secret);
    if (!client) return failed(from, () => findAttacked(clientId));
    usage.note(client.client_id, from.address);
    return client;
  }

  async function findAttacked(clientId: string): Promise<FailedSubject | undefined> {
    const client = isGuid(clientId) ? await clients.find(clientId) : undefined;
    return client && attacked(client);
  }

  /** Wrong secrets and refused bodies of the endpoints that count nothing else. */
  function addressUse(kind: 'call' | 'question', source: string | undefined): Use {
    const { address } = kind === 'call' ? calls : wrongSecrets;
    return { limit: address, key: countedAddress(source) };
  }

  return {
    /** A request that was refused before its credentials were read, at the token endpoint or at another one. */
    countRefused: (kind: 'call' | 'question', address: string | undefined) =>
      count([addressUse(kind, address)]),

    /** From memory alone, before a body is read. */
    blockedFrom: (kind: 'call' | 'question', address: string | undefined) =>
      blocked([addressUse(kind, address)]),

    /** Bank keys work only at the issuer of their bank's environment; Organization keys at both. */
    checkEnvironment(client: Client, environment: EnvironmentName, from: From): Failure | undefined {
      if (client.environment === null || client.environment === environment) return undefined;
      return failed(from, async () => attacked(client));
    },

    /** Every call counts: for the token endpoint. Counting and looking up do not wait for each other. */
    async counted(credentials: ClientCredentials, from: From): Promise<Client | Failure> {
      const uses = usesOf(calls, credentials, from.address);
      const known = blocked(uses);
      if (known) return known;
      const [refusal, client] = await Promise.all([count(uses), check(credentials, from)]);
      return refusal ?? client;
    },

    /** Only a wrong secret counts: for endpoints that a client may call as often as it likes. */
    async uncounted(credentials: ClientCredentials, from: From): Promise<Client | Failure> {
      const uses = usesOf(wrongSecrets, credentials, from.address);
      const refusal = blocked(uses);
      if (refusal) return refusal;
      const client = await check(credentials, from);
      if (!(client instanceof Failure)) return client;
      return (await count(uses)) ?? client;
    },
  };
}

function attacked({ client_id: id, organization_guid: organizationGuid }: Client): FailedSubject {
  return { id, organizationGuids: [organizationGuid] };
}

/** The same words whether the client does not exist, its secret is wrong, or it belongs to the other environment. */
function invalidClient(): Failure {
  return new Failure('invalid_client', 'The client credentials are not valid');
}
