import type { Transaction } from '../../infrastructure/database/database.ts';
import { selectEncryptedKeys, updateEncryptedKeys } from './endpoint-store.ts';
import type { SigningKeys } from './signing-key.ts';

/** Keys of one statement. */
const BATCH = 500;

export function createRotation({ signingKeys }: { signingKeys: SigningKeys }) {
  return {
    /**
     * Moves every stored key under the current master key, those of subscriptions that have ended too: as long as one
     * is left behind the old master key has to be kept. Gives how many had to move. A key that cannot be
     * decrypted fails the rotation, for dropping the old master key would then lose it for good.
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
