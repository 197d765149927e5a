import type { Clients } from '../../credentials/applications/clients.ts';
import type { KeyUsage } from '../../credentials/applications/usage.ts';
import type { FailedAuthentications } from '../../infrastructure/audit/failed-authentications.ts';
import type { Audit } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { Customers } from '../../objects/service.ts';
import { createCustomerTokens } from '../customer-tokens/customer-tokens.ts';
import type { Tokens } from '../service.ts';
import { createIntrospection } from '../verifying/introspection.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { createIssuance } from './issuance.ts';

type Deps = {
  tokens: Tokens;
  clients: Clients;
  usage: KeyUsage;
  failedAuthentications: FailedAuthentications;
  customers: Customers;
  database: Database;
  audit: Audit;
  rateLimits: RateLimits;
  metrics: Metrics;
  clock: Clock;
  limits: {
    rateLimitTokenPerClient: number;
    rateLimitTokenPerAddress: number;
    rateLimitCustomerToken: number;
  };
};

/** What stands behind each endpoint of the issuer. */
export function createTokenEndpoints({ tokens, limits, ...deps }: Deps) {
  const authentication = createClientAuthentication({ ...deps, ...tokens, limits });
  const issuance = createIssuance({ ...tokens, authentication });
  const introspection = createIntrospection({ ...deps, ...tokens });
  const perClient = limits.rateLimitCustomerToken;
  const customerTokens = createCustomerTokens({ ...deps, ...tokens, authentication, perClient });
  return { authentication, issuance, introspection, customerTokens };
}
