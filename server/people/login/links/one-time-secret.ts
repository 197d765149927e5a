import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';

/** 256 bits: nobody guesses one, so a plain hash is enough to keep it. */
const SECRET_BYTES = 32;

/** For cookies and links: what we hand out is random, what we keep is its hash. */
export function generateSecret(randomBytes: RandomBytes): Secret {
  return new Secret(Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url'));
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
