import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import { isGuid, NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { ClientSecrets, SecretHash } from './client-secret.ts';
import {
  type Client,
  countSecretsNotUnder,
  selectClients,
  selectImported,
  selectSecretHashes,
  updateSecretHash,
} from './store.ts';

/**
 * Key pairs as the token endpoint uses them. The cache is valid while this node receives every change before the change
 * is acknowledged, so that an edit applies to the next token on every node.
 */
export type Clients = ReturnType<typeof createClients>;

/** Notifications of changed and removed key pairs. While `isUpToDate`, none has been missed. */
export type ClientChanges = {
  isUpToDate(): boolean;
  onChange(listener: (clientId: string | undefined) => void): void;
};

const MAX_BATCH = 500;
const MAX_CACHED_CLIENTS = 10_000;

export function createClients({
  queries,
  secrets,
  changes,
}: {
  queries: Queries;
  secrets: ClientSecrets;
  changes: ClientChanges;
}) {
  const cache = new Map<string, Client>();
  let changeCount = 0;
  const select = createBatcher<string, Client | undefined>({
    run: (clientIds) => selectClients(queries, clientIds),
    maxBatch: MAX_BATCH,
  });
  const selectHash = createBatcher<string, SecretHash>({
    run: (clientIds) => selectSecretHashes(queries, clientIds, secrets.decoy),
    maxBatch: MAX_BATCH,
  });

  changes.onChange((clientId) => {
    changeCount += 1;
    if (clientId === undefined) cache.clear();
    else cache.delete(clientId);
  });

  function fromCache(clientId: string): Client | undefined {
    return changes.isUpToDate() ? cache.get(clientId) : undefined;
  }

  async function lookUp(clientId: string): Promise<Client | undefined> {
    const countBefore = changeCount;
    const client = await select(clientId);
    // A row read before a change was announced may be stale.
    if (client && countBefore === changeCount)
      setBounded(cache, client.client_id, client, MAX_CACHED_CLIENTS);
    return client;
  }

  /** Rehashes a secret of an older master key, which is possible only while the plain secret is known. */
  async function rehashOutdated(client: Client, secret: Secret): Promise<Client> {
    if (!secrets.isOutdated(client)) return client;
    await updateSecretHash(queries, client.client_id, secrets.hash(secret));
    cache.delete(client.client_id);
    return client;
  }

  return {
    find: async (clientId: string) => fromCache(clientId) ?? lookUp(clientId),

    /** An unknown client and a wrong secret take the same time: the lookup returns a decoy hash for an unknown client. */
    async authenticate(clientId: string, secret: Secret): Promise<Client | undefined> {
      const known = fromCache(clientId);
      if (secrets.matches(secret, known) && known) return rehashOutdated(known, secret);
      const id = isGuid(clientId) ? clientId : NIL_GUID;
      if (!secrets.matches(secret, await selectHash(id))) return undefined;
      const client = await lookUp(id);
      return client && rehashOutdated(client, secret);
    },

    /** Re-encrypts the keys of imported secrets with the current master key; returns their number. */
    async reencrypt(transaction: Transaction): Promise<number> {
      let moved = 0;
      for (const { client_id: clientId, ...hash } of await selectImported(transaction)) {
        const secret_hash_key_encrypted = secrets.reencrypt(hash);
        if (!secret_hash_key_encrypted) continue;
        await updateSecretHash(transaction, clientId, { ...hash, secret_hash_key_encrypted });
        moved += 1;
      }
      return moved;
    },

    /** Number of secrets hashed with an older master key. Each is rehashed on its next use. */
    countOutdatedSecrets: (currentKeyId: string) => countSecretsNotUnder(queries, currentKeyId),
  };
}
