import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import { createClientSecrets } from './client-secret.ts';
import { createClients } from './clients.ts';
import { type ApplicationsDeps, createApplications } from './service.ts';
import { createKeyUsage } from './usage.ts';

export type KeyPairs = ReturnType<typeof createKeyPairs>;

type Deps = Omit<ApplicationsDeps, 'secrets' | 'usage'> & {
  encryption: Encryption;
  randomBytes: RandomBytes;
};

/** Key pairs: their management, their use at the token endpoint, and their last use. */
export function createKeyPairs({ encryption, randomBytes, ...deps }: Deps) {
  const { queries, reserved } = deps.database;
  const secrets = createClientSecrets({ encryption, randomBytes });
  const usage = createKeyUsage({ queries, clock: deps.clock });
  const clients = createClients({ queries: reserved, secrets, changes: deps.revocations });
  const applications = createApplications({ ...deps, secrets, usage });
  return { applications, clients, usage };
}
