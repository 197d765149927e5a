import { createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';

/**
 * `portico_sk_` + 256 random bits + checksum, so that secret scanners can identify leaked secrets. 256 bits cannot be
 * guessed, so a fast keyed hash is enough at rest.
 */
const PREFIX = 'portico_sk_';
const RANDOM_BYTES = 32;
/** Of the key that secrets are hashed with. */
export const PURPOSE = 'client-secret';

export type SecretHash = {
  secret_hash: Buffer;
  secret_key_id: string;
  /** The key of the hash, if it is not derived from a master key of this installation. */
  secret_hash_key_encrypted: Buffer | null;
};
export type ClientSecrets = ReturnType<typeof createClientSecrets>;

export function createClientSecrets({
  encryption,
  randomBytes,
}: {
  encryption: Encryption;
  randomBytes: RandomBytes;
}) {
  const keys = new Map<string, Buffer | undefined>();

  function keyOf(keyId: string): Buffer | undefined {
    if (!keys.has(keyId)) keys.set(keyId, encryption.deriveKey(PURPOSE, keyId));
    return keys.get(keyId);
  }

  function digest(secret: string, key: Buffer | undefined): Buffer | undefined {
    return key && createHmac('sha256', key).update(secret).digest();
  }

  function importedKey({ secret_key_id: keyId, secret_hash_key_encrypted: encrypted }: SecretHash) {
    return encrypted && Buffer.from(encryption.decrypt(encrypted, contextOf(keyId)), 'hex');
  }

  function hash(secret: Secret): SecretHash {
    const keyId = encryption.currentKeyId;
    const secret_hash = digest(secret.reveal(), keyOf(keyId)) as Buffer;
    return { secret_hash, secret_key_id: keyId, secret_hash_key_encrypted: null };
  }

  /** Compared in place of a missing hash, so that known and unknown clients take the same time. */
  const decoy: SecretHash = hash(new Secret(Buffer.from(randomBytes(RANDOM_BYTES)).toString('hex')));

  return {
    generate(): Secret {
      const random = Buffer.from(randomBytes(RANDOM_BYTES)).toString('base64url');
      return new Secret(`${PREFIX}${random}${checksumOf(random)}`);
    },

    hash,
    decoy,

    matches(secret: Secret, stored: SecretHash | undefined): boolean {
      const compared = stored ?? decoy;
      const presented = digest(secret.reveal(), importedKey(compared) ?? keyOf(compared.secret_key_id));
      const equal = presented !== undefined && timingSafeEqual(presented, compared.secret_hash);
      return equal && stored !== undefined;
    },

    /** Hashed with an older master key, or with that of another installation. */
    isOutdated: (stored: SecretHash) =>
      stored.secret_key_id !== encryption.currentKeyId || stored.secret_hash_key_encrypted !== null,

    /** The imported key under the current master key, or undefined when it already is. */
    reencrypt: (stored: SecretHash) =>
      stored.secret_hash_key_encrypted &&
      encryption.reencrypt(stored.secret_hash_key_encrypted, contextOf(stored.secret_key_id)),
  };
}

/** Of an imported key. */
export function contextOf(keyId: string): string {
  return `client secret key:${keyId}`;
}

function checksumOf(random: string): string {
  return crc32(random).toString(36).padStart(7, '0');
}
