import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/**
 * A software authenticator: a P-256 key that signs the bytes that WebAuthn prescribes (authenticator data, then the
 * hash of the client data) in the encodings of a browser. Every part can be made invalid.
 */
export type Authenticator = ReturnType<typeof createAuthenticator>;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

type Wrong = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  userVerified?: boolean;
  counter?: number;
  signWith?: Authenticator;
};

export function createAuthenticator({ origin = 'http://localhost:4000' } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let counter = 0;

  function clientData(type: string, { challenge }: { challenge: string }, wrong: Wrong): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    );
  }

  function authenticatorData(wrong: Wrong, attested = Buffer.alloc(0)): Buffer {
    counter += 1;
    const flags =
      USER_PRESENT |
      ((wrong.userVerified ?? true) ? USER_VERIFIED : 0) |
      (attested.length > 0 ? HAS_CREDENTIAL : 0);
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags, 0);
    rest.writeUInt32BE(wrong.counter ?? counter, 1);
    return Buffer.concat([sha256(wrong.rpId ?? new URL(origin).hostname), rest, attested]);
  }

  /** COSE_Key of ES256 (RFC 9053): kty 2, alg -7, crv 1, x, y. */
  function coseKey(): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const bytes = (text: string) => cborBytes(Buffer.from(text, 'base64url'));
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      bytes(x),
      Buffer.from([0x22]),
      bytes(y),
    ]);
  }

  function sign(data: Buffer): Buffer {
    return createSign('sha256').update(data).sign(privateKey);
  }

  return {
    id,
    sign,

    /** Like the result of `navigator.credentials.create()`. */
    create(options: { challenge: string }, wrong: Wrong = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey()]);
      const authData = authenticatorData(wrong, attested);
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        ...[cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0])],
        ...[cborText('authData'), cborBytes(authData)],
      ]);
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', options, wrong).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      };
    },

    /** Like the result of `navigator.credentials.get()`. */
    get(options: { challenge: string }, wrong: Wrong = {}) {
      const client = clientData('webauthn.get', options, wrong);
      const data = authenticatorData(wrong);
      const signature = (wrong.signWith?.sign ?? sign)(Buffer.concat([data, sha256(client)]));
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      };
    },
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

/** A byte string of up to 65,535 bytes (RFC 8949, section 3). */
function cborBytes(bytes: Buffer): Buffer {
  const head = bytes.length < 256 ? [0x58, bytes.length] : [0x59, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from(head), bytes]);
}
