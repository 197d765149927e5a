import type { AlertSettings } from '../alerts/settings/settings.ts';
import type { Clients } from '../credentials/applications/clients.ts';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database } from '../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../infrastructure/idempotency/record-answer.ts';
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
  alertSettings: AlertSettings;
  clients: Clients;
  audit: Audit;
};

type RotatedMasterKey = {
  key_id: string;
  reencrypted: number;
  client_secrets_under_older_keys: number;
};

/** Re-encrypts every stored secret with the current master key, in one transaction. */
export async function rotateMasterKey(
  { database, encryption, signingKeys, subscriptions, login, alertSettings, clients, audit }: MasterKeyDeps,
  actor: Actor,
  recordAnswer: RecordAnswer<RotatedMasterKey> = recordNothing,
): Promise<RotatedMasterKey> {
  const keyId = encryption.currentKeyId;
  const outdated = await clients.countOutdatedSecrets(keyId);
  return database.transaction(async (transaction) => {
    const moved =
      (await signingKeys.reencrypt(transaction)) +
      (await subscriptions.reencrypt(transaction)) +
      (await login.totp.reencrypt(transaction)) +
      (await alertSettings.reencrypt(transaction)) +
      (await clients.reencrypt(transaction));
    await audit.record(transaction, actor, {
      action: 'master_key.rotate',
      objectType: 'master_key',
      objectId: keyId,
      changes: { reencrypted: moved },
    });
    const rotated = { key_id: keyId, reencrypted: moved, client_secrets_under_older_keys: outdated };
    await recordAnswer(transaction, rotated);
    return rotated;
  });
}
