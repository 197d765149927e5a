import crypto from 'node:crypto';

type Methods = Record<string, (...args: unknown[]) => unknown>;

const OTHER_POOL_WORK = {
  crypto: ['scrypt', 'pbkdf2', 'hkdf', 'generateKey', 'generateKeyPair', 'generatePrime', 'checkPrime'],
  subtle: ['sign', 'digest', 'encrypt', 'decrypt', 'deriveBits', 'deriveKey', 'wrapKey', 'unwrapKey'],
};

/**
 * Makes the keys of tokens (ES256) and verifies tokens in this thread, where the service signs them. The moment at which
 * the thread pool ends would decide which of two calls gets a connection first.
 */
export function verifyInThisThread(onPoolWork: (what: string) => void): void {
  const subtle: Methods = Object.getPrototypeOf(crypto.webcrypto.subtle);
  const { verify, importKey, generateKey } = subtle as Record<
    'verify' | 'importKey' | 'generateKey',
    (...args: unknown[]) => unknown
  >;
  const isOfToken = ({ name }: { name?: string }) => name === 'ECDSA';
  const keyObjects = new WeakMap<CryptoKey, crypto.KeyObject>();
  const withKey = (key: CryptoKey) => {
    const known = keyObjects.get(key) ?? crypto.KeyObject.from(key);
    keyObjects.set(key, known);
    return { key: known, dsaEncoding: 'ieee-p1363' as const };
  };
  const methods = {
    async verify(algorithm: unknown, key: CryptoKey, signature: Uint8Array, data: Uint8Array) {
      if (isOfToken(key.algorithm)) return crypto.verify('sha256', data, withKey(key), signature);
      onPoolWork('verify');
      return verify.call(this, algorithm, key, signature, data);
    },
    /** Extractable: only such a key may become a `KeyObject`. */
    importKey(
      format: unknown,
      data: unknown,
      algorithm: { name?: string },
      isExtractable: boolean,
      uses: unknown,
    ) {
      return importKey.call(this, format, data, algorithm, isOfToken(algorithm) || isExtractable, uses);
    },
    async generateKey(algorithm: { name: string }, isExtractable: boolean, uses: unknown) {
      if (!isOfToken(algorithm)) {
        onPoolWork('generateKey');
        return generateKey.call(this, algorithm, isExtractable, uses);
      }
      const pair = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return {
        publicKey: pair.publicKey.toCryptoKey(algorithm, true, ['verify']),
        privateKey: pair.privateKey.toCryptoKey(algorithm, isExtractable, ['sign']),
      };
    },
  };
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(subtle, name, { value });
  announce(subtle, OTHER_POOL_WORK.subtle, onPoolWork);
  announce(crypto as unknown as Methods, OTHER_POOL_WORK.crypto, onPoolWork);
}

function announce(methods: Methods, names: readonly string[], onPoolWork: (what: string) => void): void {
  for (const name of names) {
    const method = methods[name];
    Object.defineProperty(methods, name, {
      value(...args: unknown[]) {
        onPoolWork(name);
        return method?.apply(this, args);
      },
    });
  }
}
