import type { Audit } from '../infrastructure/audit/service.ts';
import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import type { Encryption } from '../infrastructure/runtime/encryption.ts';
import type { Guids } from '../infrastructure/runtime/guid.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Metrics } from '../infrastructure/runtime/metrics.ts';
import { createEnvironments } from './issuing/environments.ts';
import { createIssuer } from './issuing/issuer.ts';
import { createRevocations } from './revoking/revocations.ts';
import { createSigningKeys } from './signing-keys/signing-keys.ts';
import { createDenials } from './verifying/denials.ts';
import { createVerifier } from './verifying/verifier.ts';

export type Tokens = ReturnType<typeof createTokens>;

type Deps = {
  addresses: { baseUrl: string; sandboxAuthUrl: string; productionAuthUrl: string };
  database: Database;
  notifications: Notifications;
  encryption: Encryption;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  metrics: Metrics;
  log: Log;
};

/** Issuing, verifying and revoking of tokens. */
export function createTokens({ addresses, ...deps }: Deps) {
  const { baseUrl } = addresses;
  const environments = createEnvironments(addresses);
  const signingKeys = createSigningKeys(deps);
  const revocations = createRevocations(deps);
  const denials = createDenials(deps);
  const issuer = createIssuer({ ...deps, signingKeys, environments, baseUrl });
  const verifier = createVerifier({ ...deps, signingKeys, environments, revocations, baseUrl });
  return { environments, signingKeys, revocations, denials, issuer, verifier };
}
