import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';

/** 256 bits: too many to guess, so an unsalted fast hash is enough at rest. */
const SECRET_BYTES = 32;

/** Secret of a session cookie or a link. Only its hash is stored. */
export function generateSecret(randomBytes: RandomBytes): Secret {
  return new Secret(Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url'));
}

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
