import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';

/** Partners get 64 hex characters, whose ASCII bytes are the key. */
const KEY_BYTES = 32;

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** Signing keys, encrypted with the guid of their subscription as context. */
export function createSigningKeys({
  encryption,
  randomBytes,
}: {
  encryption: Encryption;
  randomBytes: RandomBytes;
}) {
  return {
    generate: () => new Secret(Buffer.from(randomBytes(KEY_BYTES)).toString('hex')),
    encrypt: (guid: string, key: Secret) => encryption.encrypt(key.reveal(), contextOf(guid)),
    decrypt: (guid: string, encrypted: Buffer) => new Secret(encryption.decrypt(encrypted, contextOf(guid))),
    /** Undefined if the key is already encrypted with the current master key. */
    reencrypt: (guid: string, encrypted: Buffer) => encryption.reencrypt(encrypted, contextOf(guid)),
  };
}

export function contextOf(guid: string): string {
  return `subscription:${guid}`;
}
