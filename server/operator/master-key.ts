import type { Clients } from '../credentials/applications/clients.ts';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database } from '../infrastructure/database/database.ts';
import type { Encryption } from '../infrastructure/runtime/encryption.ts';
import type { LoginModule } from '../people/login/service.ts';
import type { SigningKeys } from '../tokens/signing-keys/signing-keys.ts';
import type { Subscriptions } from '../webhooks/subscriptions/service.ts';

export type MasterKeyDeps = {
  database: Database;
  encryption: Encryption;
  signingKeys: SigningKeys;
  subscriptions: Subscriptions;
  login: Pick<LoginModule, 'totp'>;
  clients: Clients;
  audit: Audit;
};

/** Re-encrypts every stored secret with the current master key, in one transaction. */
export async function rotateMasterKey(
  { database, encryption, signingKeys, subscriptions, login, clients, audit }: MasterKeyDeps,
  actor: Actor,
): Promise<{ key_id: string; reencrypted: number; client_secrets_under_older_keys: number }> {
  const keyId = encryption.currentKeyId;
  const reencrypted = await database.transaction(async (transaction) => {
    const moved =
      (await signingKeys.reencrypt(transaction)) +
      (await subscriptions.reencrypt(transaction)) +
      (await login.totp.reencrypt(transaction));
    await audit.record(transaction, actor, {
      action: 'master_key.rotate',
      objectType: 'master_key',
      objectId: keyId,
      changes: { reencrypted: moved },
    });
    return moved;
  });
  const outdated = await clients.countOutdatedSecrets(keyId);
  return { key_id: keyId, reencrypted, client_secrets_under_older_keys: outdated };
}
