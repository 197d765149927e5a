import type { DenialAlerts } from '../alerts/denials.ts';
import type { Clients } from '../credentials/applications/clients.ts';
import type { KeyUsage } from '../credentials/applications/usage.ts';
import type { Freezes } from '../credentials/organizations/freezes.ts';
import type { FailedAuthentications } from '../infrastructure/audit/failed-authentications.ts';
import type { Base } from '../infrastructure/base.ts';
import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { RateLimits } from '../infrastructure/rate-limits/service.ts';
import type { Encryption } from '../infrastructure/runtime/encryption.ts';
import type { Customers } from '../objects/service.ts';
import { createCustomerTokens } from './customer-tokens/customer-tokens.ts';
import { createClientAuthentication } from './issuing/client-authentication.ts';
import { createEnvironments } from './issuing/environments.ts';
import { createIssuance } from './issuing/issuance.ts';
import { createIssuer } from './issuing/issuer.ts';
import { createRevocations } from './revoking/revocations.ts';
import { createSigningKeys } from './signing-keys/signing-keys.ts';
import { createDenials } from './verifying/denials.ts';
import { createIntrospection } from './verifying/introspection.ts';
import { createVerifier } from './verifying/verifier.ts';

export type Tokens = ReturnType<typeof createTokens>;

type TokensDeps = Base & {
  addresses: { baseUrl: string; sandboxAuthUrl: string; productionAuthUrl: string };
  notifications: Notifications;
  encryption: Encryption;
  denialAlerts: DenialAlerts;
};

/** Issuing, verifying and revoking of tokens. */
export function createTokens({ addresses, ...deps }: TokensDeps) {
  const { baseUrl } = addresses;
  const environments = createEnvironments(addresses);
  const signingKeys = createSigningKeys(deps);
  const revocations = createRevocations(deps);
  const denials = createDenials({ ...deps, alerts: deps.denialAlerts });
  const issuer = createIssuer({ ...deps, signingKeys, environments, baseUrl });
  const verifier = createVerifier({ ...deps, signingKeys, environments, revocations, baseUrl });
  return { environments, signingKeys, revocations, denials, issuer, verifier };
}

export type TokenEndpoints = ReturnType<typeof createTokenEndpoints>;

type EndpointsDeps = Pick<TokensDeps, 'database' | 'audit' | 'metrics' | 'clock'> & {
  tokens: Tokens;
  clients: Clients;
  freezes: Freezes;
  usage: KeyUsage;
  failedAuthentications: FailedAuthentications;
  customers: Customers;
  rateLimits: RateLimits;
  limits: {
    rateLimitTokenPerClient: number;
    rateLimitTokenPerAddress: number;
    rateLimitCustomerToken: number;
  };
};

/** Services behind the OAuth endpoints. */
export function createTokenEndpoints({ tokens, limits, ...deps }: EndpointsDeps) {
  const authentication = createClientAuthentication({ ...deps, ...tokens, limits });
  const issuance = createIssuance({ ...deps, ...tokens, authentication });
  const introspection = createIntrospection({ ...deps, ...tokens });
  const perClient = limits.rateLimitCustomerToken;
  const customerTokens = createCustomerTokens({ ...deps, ...tokens, authentication, perClient });
  return { authentication, issuance, introspection, customerTokens };
}
