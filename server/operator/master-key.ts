import type { Actor } from '../infrastructure/audit/service.ts';
import type { RotationDeps } from './key-routes.ts';

/** Re-encrypts every stored secret under the current master key, in one transaction. */
export async function rotateMasterKey(
  { database, encryption, signingKeys, subscriptions, login, clients, audit }: RotationDeps,
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
