import assert from 'node:assert/strict';
import { createHmac, createPublicKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CompactSign,
  type CryptoKey,
  compactVerify,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createEncryption } from '../../infrastructure/runtime/encryption.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { withLowS } from './signature-form.ts';

/** Forged and altered tokens, all refused with the same message. */
const app = await createTestApp();
const tenant = await createTenant(app);
const genuine = await tokenOf(app, tenant.organizationKey, 'customers:read');
const claims = decodeJwt(genuine) as Record<string, unknown>;
const [headerPart = '', payloadPart = '', signaturePart = ''] = genuine.split('.');

const own = await readOwnKey();
const foreign = await generateKeyPair('ES256', { extractable: true });
const foreignJwk = await exportJWK(foreign.publicKey);

/** The service's private key, as an attacker with the database and the master key would have it. */
async function readOwnKey() {
  const row = await app.database.queries.selectFrom('signing_keys').selectAll().executeTakeFirstOrThrow();
  const encryption = createEncryption({ masterKeys: [new Secret('a1'.repeat(32))], randomBytes });
  const privateJwk = JSON.parse(encryption.decrypt(row.private_jwk_encrypted, `signing_key:${row.kid}`));
  const privateKey = (await importJWK(privateJwk, 'ES256')) as CryptoKey;
  const publicJwk = row.public_jwk as JWK;
  const publicKey = (await importJWK(publicJwk, 'ES256')) as CryptoKey;
  return { kid: row.kid, publicJwk, publicKey, privateKey };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Signs as jose does, with either form of s. */
async function signEither(
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key: CryptoKey = own.privateKey,
): Promise<string> {
  const protectedHeader = JSON.parse(
    JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: own.kid, ...header }),
  );
  const payload = Buffer.from(JSON.stringify({ ...claims, ...changes }));
  return new CompactSign(payload).setProtectedHeader(protectedHeader).sign(key);
}

async function sign(...args: Parameters<typeof signEither>): Promise<string> {
  const token = await signEither(...args);
  const end = token.lastIndexOf('.') + 1;
  const signature = withLowS(Buffer.from(token.slice(end), 'base64url'));
  return token.slice(0, end) + signature.toString('base64url');
}

/** The equivalent signature (r, n - s). */
function twinOf(token: string): string {
  const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
  const signature = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url').toString('hex');
  const s = (order - BigInt(`0x${signature.slice(64)}`)).toString(16).padStart(64, '0');
  const twin = Buffer.from(signature.slice(0, 64) + s, 'hex').toString('base64url');
  return token.slice(0, token.lastIndexOf('.') + 1) + twin;
}

const CHALLENGE = 'Bearer realm="portico"';
const use = (token: string) => app.call({ url: '/api/customers', token });
async function assertRefused(token: string, about = ''): Promise<void> {
  const answer = await use(token);
  assert.equal(answer.status, 401, `${about} ${JSON.stringify(answer.body)}`);
  assertError(answer, 401, 'authentication_failed', 'The access token is not valid');
  assert.equal(answer.body.error, 'unauthorized');
  assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'message', 'message_code']);
  assert.equal(
    answer.headers['www-authenticate'],
    `${CHALLENGE}, error="invalid_token", error_description="The access token is not valid"`,
  );
}

test('the genuine token passes, and one signed with the service’s key by these helpers', async () => {
  assert.equal((await use(genuine)).status, 200);
  assert.equal((await use(await sign())).status, 200);
});

test('alg none, in every spelling, with and without a signature', async () => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', ''])
    for (const signature of ['', signaturePart, 'AA'])
      await assertRefused(`${encode({ alg, typ: 'at+jwt', kid: own.kid })}.${payloadPart}.${signature}`, alg);
});

test('HS256 with the public key as the secret, in each form in which it is published', async () => {
  const object = createPublicKey({ key: { ...own.publicJwk }, format: 'jwk' });
  const secrets = [
    object.export({ type: 'spki', format: 'pem' }),
    object.export({ type: 'spki', format: 'der' }),
    JSON.stringify(own.publicJwk),
    String(own.publicJwk.x),
    '',
  ];
  for (const alg of ['HS256', 'HS384', 'HS512'])
    for (const secret of secrets) {
      const signed = `${encode({ alg, typ: 'at+jwt', kid: own.kid })}.${payloadPart}`;
      const mac = createHmac(alg.replace('HS', 'sha'), secret).update(signed).digest('base64url');
      await assertRefused(`${signed}.${mac}`, alg);
    }
});

test('another algorithm with the service’s key', async () => {
  for (const alg of ['ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'ES256K', 'es256', 1, null])
    await assertRefused(`${encode({ alg, typ: 'at+jwt', kid: own.kid })}.${payloadPart}.${signaturePart}`);
});

test('an attacker’s key under a known, unknown, malformed or missing key id', async () => {
  const kids = [
    own.kid,
    'f'.repeat(32),
    '',
    undefined,
    null,
    0,
    [own.kid],
    {},
    '__proto__',
    '../../dev/null',
  ];
  for (const kid of [...kids, "' or 1=1 --", '\0', 'x'.repeat(5_000)])
    await assertRefused(await sign({}, { kid }, foreign.privateKey).catch(() => 'a.b.c'), String(kid));
  await assertRefused(await sign({}, { kid: undefined }), 'our key, no kid');
  await assertRefused(await sign({}, { kid: 'f'.repeat(32) }), 'our key, another kid');
});

test('a header that contains or references the attacker’s key', async () => {
  const jwks = 'http://127.0.0.1:9/jwks.json';
  for (const header of [{ jwk: foreignJwk }, { jku: jwks }, { x5u: jwks }, { x5c: ['AAAA'] }])
    for (const kid of [own.kid, undefined, 'attacker'])
      await assertRefused(await sign({}, { ...header, kid }, foreign.privateKey), JSON.stringify(header));
});

test('an unknown critical extension', async () => {
  const header = encode({ alg: 'ES256', typ: 'at+jwt', kid: own.kid, crit: ['exp'], exp: 1 });
  await assertRefused(`${header}.${payloadPart}.${signaturePart}`);
});

test('any claim changed after signing', async () => {
  for (const name of Object.keys(claims))
    for (const value of ['x', '', 0, 9_999_999_999, null, true, ['8.8.8.8'], [claims[name]], {}]) {
      const tampered = `${headerPart}.${encode({ ...claims, [name]: value })}.${signaturePart}`;
      await assertRefused(tampered, name);
    }
});

test('signed with the service’s key, but without a required claim', async () => {
  for (const name of Object.keys(claims))
    if (name !== 'client_id') await assertRefused(await sign({ [name]: undefined }), name);
  for (const client_id of ['', 'dashboard', 'f'.repeat(32), null, 1])
    await assertRefused(await sign({ client_id }), `client_id ${client_id}`);
});

test('signed with the service’s key, but for another issuer, audience or environment', async () => {
  await assertRefused(await sign({ iss: 'https://evil.example' }));
  await assertRefused(await sign({ iss: 'http://localhost:4000/' }));
  await assertRefused(await sign({ aud: 'http://production.localhost:4000' }));
  await assertRefused(await sign({ aud: ['https://evil.example'] }));
  await assertRefused(await sign({ iss: 'http://production.localhost:4000' }), 'production issuer, sandbox');
  await assertRefused(await sign({ environment: 'production' }), 'sandbox issuer, production');
  await assertRefused(await sign({ iss: 'http://production.localhost:4000', environment: undefined }));
  const production = { iss: 'http://production.localhost:4000', environment: 'production' };
  assert.equal((await use(await sign(production))).status, 200);
});

test('signed with the service’s key, but of another type', async () => {
  for (const typ of [undefined, 'JWT', 'jwt', '', 'at', 'id+jwt', 'logout+jwt', 1, null, ['at+jwt']])
    await assertRefused(await sign({}, { typ }), String(typ));
});

test('signed with the service’s key, but with invalid times', async () => {
  const now = Number(claims.iat);
  for (const exp of [now + 1_801, now + 10 ** 9, 1e300, '9999999999', null, true, {}])
    await assertRefused(await sign({ exp }), `exp ${exp}`);
  for (const iat of ['x', null, now - 1]) await assertRefused(await sign({ iat }), `iat ${iat}`);
  await assertRefused(await sign({ nbf: now + 1 }));
  await assertRefused(await sign({ nbf: 'x' }));
  assert.equal((await use(await sign({ nbf: now }))).status, 200);
});

test('a claims set that is not an object, or not JSON', async () => {
  const header = { alg: 'ES256', typ: 'at+jwt', kid: own.kid };
  for (const payload of ['', 'null', '[]', '"x"', '1', '{', '\xff'])
    await assertRefused(
      await new CompactSign(Buffer.from(payload, 'latin1')).setProtectedHeader(header).sign(own.privateKey),
    );
});

test('other encodings of the same bytes are refused', async () => {
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const at = last.indexOf(genuine.at(-1) ?? '');
  for (const padding of ['=', '==', '===']) await assertRefused(genuine + padding);
  await assertRefused(genuine.slice(0, -1) + last[at ^ 1]);
  await assertRefused(genuine.slice(0, -1) + last[at ^ 15]);
});

test('the high-s form of a signature is refused', async () => {
  for (let times = 0; times < 20; times++) {
    const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
    await compactVerify(twinOf(token), own.publicKey);
    assert.equal(twinOf(twinOf(token)), token);
    // Before and after the genuine token is cached.
    await assertRefused(twinOf(token));
    assert.equal((await use(token)).status, 200);
    await assertRefused(twinOf(token));
  }
});

test('a token of an earlier release, without client_id, is accepted with either form of the signature', async () => {
  const token = await sign({ client_id: undefined });
  for (const form of [token, twinOf(token)]) assert.equal((await use(form)).status, 200);
});

test('any mutation of a genuine token', async () => {
  const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~+/'];
  const at = fc.nat({ max: genuine.length - 1 });
  const piece = fc.string({ unit: fc.constantFrom(...characters), maxLength: 4 });
  const splice = fc.tuple(at, fc.nat({ max: 4 }), piece);
  const mutations = fc.array(splice, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(mutations, async (edits) => {
      let token = genuine;
      for (const [start, removed, added] of edits)
        token = token.slice(0, start) + added + token.slice(start + removed);
      fc.pre(token !== genuine && token !== '');
      await assertRefused(token, token);
    }),
    { numRuns: 300 },
  );
});
