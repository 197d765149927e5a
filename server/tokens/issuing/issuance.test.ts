import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, type Key, tokenOf } from '../../../testing/app/tenant.ts';

/** Successful requests to `POST /oauth/token`, in every accepted format. */
const UNLIMITED = '1000000';
const app = await createTestApp({
  environment: {
    PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: UNLIMITED,
    PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: UNLIMITED,
  },
});
const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.96', '8.8.8.0/24'] });
const { organizationKey: key } = tenant;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const GRANT = { grant_type: 'client_credentials', scope: 'trades:read' };
const IN_BODY = { client_id: key.clientId, client_secret: key.secret };

const ask = (payload: object | string, headers: Record<string, string> = {}) =>
  app.call({ method: 'POST', url: '/oauth/token', payload, headers });
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const basic = ({ clientId, secret }: Key) =>
  `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;

function assertGranted({ status, headers, body }: Answer, scope = 'trades:read'): void {
  assert.equal(status, 200, JSON.stringify(body));
  const { access_token, ...rest } = body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1_800, scope });
  assert.equal(decodeJwt(String(access_token)).scope, scope);
  assert.equal(headers['cache-control'], 'no-store');
  assert.match(String(headers['content-type']), /^application\/json/);
}

test('a token request as JSON', async () => {
  assertGranted(await ask({ ...GRANT, ...IN_BODY }));
  assertGranted(await ask(JSON.stringify({ ...GRANT, ...IN_BODY }), { 'content-type': 'application/json' }));
});

test('a token request as a form, with and without a charset', async () => {
  assertGranted(await ask(form({ ...GRANT, ...IN_BODY }), FORM));
  const charset = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
  assertGranted(await ask(form({ ...GRANT, ...IN_BODY }), charset));
});

test('HTTP Basic with a form and with JSON, in any letter case', async () => {
  const authorization = basic(key);
  assertGranted(await ask(form(GRANT), { ...FORM, authorization }));
  assertGranted(await ask(GRANT, { authorization }));
  assertGranted(await ask(GRANT, { authorization: authorization.replace('Basic', 'bASIC  ') }));
});

test('both halves of Basic are form-decoded (RFC 6749, section 2.3.1)', async () => {
  const escaped = (text: string) =>
    [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  const encoded = Buffer.from(`${escaped(key.clientId)}:${escaped(key.secret)}`).toString('base64');
  assertGranted(await ask(GRANT, { authorization: `Basic ${encoded}` }));
});

test('Basic with the same client_id in the body is one authentication, not two', async () => {
  const headers = { ...FORM, authorization: basic(key) };
  assertGranted(await ask(form({ ...GRANT, client_id: key.clientId }), headers));
});

test('unknown parameters are ignored (RFC 6749, section 3.2)', async () => {
  const extra = { audience: 'https://elsewhere.example', resource: 'x', client_assertion: 'y' };
  assertGranted(await ask({ ...GRANT, ...IN_BODY, ...extra, nested: { deep: [1] } }));
  assertGranted(await ask(form({ ...GRANT, ...IN_BODY, ...extra }), FORM));
});

test('scopes are separated by any number of spaces, and duplicates are granted once', async () => {
  const scope = '  trades:read  customers:read trades:read ';
  assertGranted(await ask({ ...GRANT, ...IN_BODY, scope }), 'trades:read customers:read');
});

test('every token is different', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(app, key, 'trades:read')));
  assert.equal(new Set(tokens.map((token) => decodeJwt(token).jti)).size, 20);
});

test('an Organization token has exactly the contract’s claims', async () => {
  app.clock.advance(789);
  const token = await tokenOf(app, key, 'customers:read trades:read');
  const { kid, ...header } = decodeProtectedHeader(token);
  assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt' });
  assert.match(String(kid), /^[0-9a-f]{32}$/);
  const { jti, ...claims } = decodeJwt(token);
  const issuedAt = Math.floor(app.clock.now().getTime() / 1_000);
  assert.match(String(jti), /^[0-9a-f]{32}$/);
  assert.deepEqual(claims, {
    iss: 'http://localhost:4000',
    sub: key.clientId,
    client_id: key.clientId,
    aud: 'http://localhost:4000',
    exp: issuedAt + 1_800,
    iat: issuedAt,
    token_type: 'organization',
    organization_guid: tenant.organizationGuid,
    environment: 'sandbox',
    scope: 'customers:read trades:read',
    ip_allowlist: ['198.35.26.96', '8.8.8.0/24'],
  });
});

test('a bank token names its bank', async () => {
  const claims = decodeJwt(await tokenOf(app, tenant.bankKey, 'customers:read'));
  assert.equal(claims.token_type, 'bank');
  assert.equal(claims.sub, tenant.bankKey.clientId);
  assert.equal(claims.organization_guid, tenant.organizationGuid);
  assert.equal(claims.bank_guid, tenant.bankGuid);
});

test('the allowlist applies to calls with the token, not to the token endpoint', async () => {
  const token = await tokenOf(app, key, everyScope('organization'));
  const list = (remoteAddress: string) => app.call({ url: '/api/customers', token, remoteAddress });
  assertError(await list('9.9.9.9'), 403, 'ip_not_allowed', 'IP address not in allowlist');
  assert.equal((await list('198.35.26.96')).status, 200);
});

test('a client_secret is portico_sk_, 256 random bits and their checksum', async () => {
  const [, random = '', checksum = ''] = /^portico_sk_([\w-]{43})([0-9a-z]{7})$/.exec(key.secret) ?? [];
  assert.equal(Buffer.from(random, 'base64url').length, 32);
  assert.equal(Number.parseInt(checksum, 36), crc32(random));
  assert.notEqual(tenant.bankKey.secret, key.secret);
  assert.ok(!app.logged.some((line) => line.includes(key.secret)));
});
