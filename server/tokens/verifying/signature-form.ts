/**
 * ECDSA malleability: for every ES256 signature (r, s), (r, n - s) is valid too. Only the lower s is issued and accepted, so
 * that a token has exactly one encoding.
 */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const HALF_ORDER = Buffer.from((ORDER >> 1n).toString(16).padStart(64, '0'), 'hex');
/** r and s, 32 bytes each (RFC 7518, section 3.4), in base64url. */
const NUMBER_BYTES = 32;
const SIGNATURE_CHARACTERS = 86;

export function hasLowS(token: string): boolean {
  const signature = Buffer.from(token.slice(-SIGNATURE_CHARACTERS), 'base64url');
  return HALF_ORDER.compare(signature, NUMBER_BYTES) >= 0;
}

/** Changes the signature in place. */
export function withLowS(signature: Buffer): Buffer {
  if (HALF_ORDER.compare(signature, NUMBER_BYTES) >= 0) return signature;
  const low = ORDER - BigInt(`0x${signature.toString('hex', NUMBER_BYTES)}`);
  signature.write(low.toString(16).padStart(2 * NUMBER_BYTES, '0'), NUMBER_BYTES, 'hex');
  return signature;
}
