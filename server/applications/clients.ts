import type { Queries } from '../database/database.ts';
import { createBatcher } from '../runtime/batcher.ts';
import { isGuid } from '../runtime/guid.ts';
import type { Secret } from '../runtime/secret.ts';
import type { ClientSecrets } from './client-secret.ts';
import { type Client, countSecretsNotUnder, selectClients, updateSecretHash } from './store.ts';

/**
 * Key pairs as the token endpoint meets them: by client_id and secret. Nothing is cached, so that an edit
 * counts from the very next token on every node; look-ups of the same moment share one query instead.
 */
export type Clients = ReturnType<typeof createClients>;

const MAX_BATCH = 500;
/** Nobody's id: what is looked up for an id that cannot be one, so that this takes no less time. */
const NOBODY = '0'.repeat(32);

export function createClients({ queries, secrets }: { queries: Queries; secrets: ClientSecrets }) {
  const find = createBatcher<string, Client | undefined>({
    run: (clientIds) => selectClients(queries, clientIds),
    maxBatch: MAX_BATCH,
  });
  const lookUp = (clientId: string) => find(isGuid(clientId) ? clientId : NOBODY);

  return {
    find: lookUp,

    /** An unknown client and a wrong secret take the same path and the same time to `undefined`. */
    async authenticate(clientId: string, secret: Secret): Promise<Client | undefined> {
      const client = await lookUp(clientId);
      if (!secrets.matches(secret, client) || !client) return undefined;
      if (secrets.isOutdated(client)) await updateSecretHash(queries, client.client_id, secrets.hash(secret));
      return client;
    },

    /** How many secrets still need an older master key; each moves when its key pair is next used. */
    countOutdatedSecrets: (currentKeyId: string) => countSecretsNotUnder(queries, currentKeyId),
  };
}
