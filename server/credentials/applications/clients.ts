import type { Queries } from '../../infrastructure/database/database.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { ClientSecrets, SecretHash } from './client-secret.ts';
import {
  type Client,
  countSecretsNotUnder,
  selectClients,
  selectSecretHashes,
  updateSecretHash,
} from './store.ts';

/**
 * Key pairs as the token endpoint meets them: by client_id and secret. They are remembered for as long as this
 * node is told of every change before the change is answered, so an edit counts from the very next token on
 * every node. Look-ups of the same moment share one query.
 */
export type Clients = ReturnType<typeof createClients>;

/** Tells of every changed or removed key pair, and whether nothing can have been missed. */
export type ClientChanges = {
  isUpToDate(): boolean;
  onChange(listener: (clientId: string | undefined) => void): void;
};

const MAX_BATCH = 500;
const MAX_REMEMBERED = 10_000;
/** Nobody's id: what is looked up for an id that cannot be one, so that this takes no less time. */
const NOBODY = '0'.repeat(32);

export function createClients({
  queries,
  secrets,
  changes,
}: {
  queries: Queries;
  secrets: ClientSecrets;
  changes: ClientChanges;
}) {
  const remembered = new Map<string, Client>();
  let changesSeen = 0;
  const select = createBatcher<string, Client | undefined>({
    run: (clientIds) => selectClients(queries, clientIds),
    maxBatch: MAX_BATCH,
  });
  const selectHash = createBatcher<string, SecretHash>({
    run: (clientIds) => selectSecretHashes(queries, clientIds, secrets.decoy),
    maxBatch: MAX_BATCH,
  });

  changes.onChange((clientId) => {
    changesSeen += 1;
    if (clientId === undefined) remembered.clear();
    else remembered.delete(clientId);
  });

  function recall(clientId: string): Client | undefined {
    return changes.isUpToDate() ? remembered.get(clientId) : undefined;
  }

  async function lookUp(clientId: string): Promise<Client | undefined> {
    const seenBefore = changesSeen;
    const client = await select(clientId);
    // What was read before a change became known may be what it was before the change.
    if (client && seenBefore === changesSeen)
      setBounded(remembered, client.client_id, client, MAX_REMEMBERED);
    return client;
  }

  /** While the secret is at hand: hashed anew when its master key is on its way out. */
  async function renewed(client: Client, secret: Secret): Promise<Client> {
    if (!secrets.isOutdated(client)) return client;
    await updateSecretHash(queries, client.client_id, secrets.hash(secret));
    remembered.delete(client.client_id);
    return client;
  }

  return {
    find: async (clientId: string) => recall(clientId) ?? lookUp(clientId),

    /**
     * Only the right secret gets beyond the hash, and where there is no such client a decoy's hash is looked
     * up: an unknown client and a wrong secret take the same path and the same time to `undefined`.
     */
    async authenticate(clientId: string, secret: Secret): Promise<Client | undefined> {
      const known = recall(clientId);
      if (secrets.matches(secret, known) && known) return renewed(known, secret);
      const id = isGuid(clientId) ? clientId : NOBODY;
      if (!secrets.matches(secret, await selectHash(id))) return undefined;
      const client = await lookUp(id);
      return client && renewed(client, secret);
    },

    /** How many secrets still need an older master key; each moves when its key pair is next used. */
    countOutdatedSecrets: (currentKeyId: string) => countSecretsNotUnder(queries, currentKeyId),
  };
}
