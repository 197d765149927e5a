import type { Transaction } from '../../infrastructure/database/database.ts';
import { selectEncryptedKeys, updateEncryptedKeys } from './endpoint-store.ts';
import type { SigningKeys } from './signing-key.ts';

/** Keys of one statement. */
const BATCH = 500;

export function createRotation({ signingKeys }: { signingKeys: SigningKeys }) {
  return {
    /**
     * Re-encrypts every stored key with the current master key, including those of ended subscriptions; returns how many
     * changed. A key that cannot be decrypted fails the rotation: dropping the old master key would lose it.
     */
    async reencrypt(transaction: Transaction): Promise<number> {
      let total = 0;
      for (let after: string | undefined; ; ) {
        const stored = await selectEncryptedKeys(transaction, after, BATCH);
        const moved = stored.flatMap(({ guid, signing_key_encrypted: encrypted }) => {
          const signing_key_encrypted = signingKeys.reencrypt(guid, encrypted);
          return signing_key_encrypted ? [{ guid, signing_key_encrypted }] : [];
        });
        if (moved.length > 0) await updateEncryptedKeys(transaction, moved);
        total += moved.length;
        if (stored.length < BATCH) return total;
        after = stored.at(-1)?.guid;
      }
    },
  };
}
