import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import type { RandomBytes } from './guid.ts';
import type { Secret } from './secret.ts';

/**
 * AES-256-GCM under the master key. With several master keys, newest first, the first one encrypts and all decrypt;
 * each ciphertext names its key. To rotate, add a new key in front, re-encrypt and remove the old key. Layout: key id
 * (8 bytes) · nonce (12) · tag (16) · ciphertext. The context (kind and owner of the value) is authenticated, so that a
 * ciphertext that is moved to another row does not decrypt.
 */
export type Encryption = {
  readonly currentKeyId: string;
  encrypt(plaintext: string, context: string): Buffer;
  decrypt(ciphertext: Buffer, context: string): string;
  /** The same value under the current key, or undefined when it already is. */
  reencrypt(ciphertext: Buffer, context: string): Buffer | undefined;
  /** A key for one purpose, derived from a master key (HKDF-SHA-256, RFC 5869); undefined when that key was removed. */
  deriveKey(purpose: string, keyId?: string): Buffer | undefined;
};

const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

type MasterKey = { id: Buffer; key: KeyObject };

export function createEncryption({
  masterKeys,
  randomBytes,
}: {
  masterKeys: readonly Secret[];
  randomBytes: RandomBytes;
}): Encryption {
  const keys = masterKeys.map(readMasterKey);
  const [current] = keys;
  if (!current) throw new Error('no master key');
  const byId = new Map(keys.map((masterKey) => [masterKey.id.toString('hex'), masterKey]));
  const currentKeyId = current.id.toString('hex');

  function encrypt(plaintext: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current?.key as KeyObject, nonce);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([current?.id as Buffer, nonce, cipher.getAuthTag(), body]);
  }

  function decrypt(ciphertext: Buffer, context: string): string {
    if (ciphertext.length < HEADER_BYTES) throw new Error('ciphertext is too short');
    const keyId = ciphertext.toString('hex', 0, KEY_ID_BYTES);
    const masterKey = byId.get(keyId);
    if (!masterKey) throw new Error(`encrypted under master key ${keyId}, which is not configured`);
    const nonce = ciphertext.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', masterKey.key, nonce);
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(ciphertext.subarray(KEY_ID_BYTES + NONCE_BYTES, HEADER_BYTES));
    return decipher.update(ciphertext.subarray(HEADER_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  function reencrypt(ciphertext: Buffer, context: string): Buffer | undefined {
    const isCurrent = ciphertext.toString('hex', 0, KEY_ID_BYTES) === currentKeyId;
    return isCurrent ? undefined : encrypt(decrypt(ciphertext, context), context);
  }

  function deriveKey(purpose: string, keyId = currentKeyId): Buffer | undefined {
    const masterKey = byId.get(keyId);
    return masterKey && Buffer.from(hkdfSync('sha256', masterKey.key, '', `portico:${purpose}`, KEY_BYTES));
  }

  return { currentKeyId, encrypt, decrypt, reencrypt, deriveKey };
}

function readMasterKey(secret: Secret): MasterKey {
  const bytes = Buffer.from(secret.reveal(), 'hex');
  if (bytes.length !== KEY_BYTES) throw new Error('a master key must have 32 bytes');
  const id = createHash('sha256').update('portico:key-id').update(bytes).digest().subarray(0, KEY_ID_BYTES);
  return { id, key: createSecretKey(bytes) };
}
