import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, type Key, PRODUCTION_HOST } from '../../../testing/app/tenant.ts';

/** Errors of `POST /oauth/token`: the codes of RFC 6749, section 5.2, in the contract's format. */
const UNLIMITED = '1000000';
const app = await createTestApp({
  environment: {
    PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: UNLIMITED,
    PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: UNLIMITED,
  },
});
const { organizationKey: key, bankKey } = await createTenant(app);
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

type Fields = Record<string, unknown>;
const requestOf = ({ clientId, secret }: Key): Fields => ({
  grant_type: 'client_credentials',
  client_id: clientId,
  client_secret: secret,
  scope: 'trades:read',
});
const valid = requestOf(key);
const without = (name: string): Fields => {
  const { [name]: _, ...rest } = valid;
  return rest;
};

const ask = (payload: string | Buffer | object, headers: Record<string, string> = JSON_TYPE) =>
  app.call({ method: 'POST', url: '/oauth/token', payload, headers });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

/** `error` is the code of the RFC, `error_description` the message. */
function assertRefused(answer: Answer, status: number, code: string, message?: string | RegExp): void {
  assertError(answer, status, code, message);
  const { body, headers } = answer;
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description', 'message', 'message_code']);
  assert.equal(body.error, code);
  assert.equal(body.error_description, body.message);
  assert.match(String(body.error_description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['www-authenticate'], status === 401 ? 'Basic realm="portico"' : undefined);
}

test('a missing parameter is an invalid_request that names it', async () => {
  for (const name of ['grant_type', 'client_id', 'client_secret'])
    assertRefused(await ask(without(name)), 400, 'invalid_request', `${name} is required`);
});

test('a form parameter without a value counts as omitted', async () => {
  const fields = new URLSearchParams({ ...(valid as Record<string, string>), client_secret: '' });
  assertRefused(await ask(fields.toString(), FORM), 400, 'invalid_request', 'client_secret is required');
});

test('a value that is not a string is an invalid_request that names it', async () => {
  for (const name of Object.keys(valid))
    for (const value of [1, true, ['trades:read'], { a: 1 }])
      assertRefused(await ask({ ...valid, [name]: value }), 400, 'invalid_request', new RegExp(`^${name} `));
});

test('an overlong value is refused', async () => {
  for (const name of Object.keys(valid))
    assertRefused(await ask({ ...valid, [name]: 'a'.repeat(10_000) }), 400, 'invalid_request');
});

test('a body that is not JSON, not UTF-8 or not an object is an invalid_request', async () => {
  const brokenUtf8 = Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]);
  for (const body of ['{', 'grant_type=client_credentials', '', 'null', '[]', '"x"', brokenUtf8])
    assertRefused(await ask(body), 400, 'invalid_request');
  assertRefused(await ask(Buffer.from([0x61, 0x3d, 0xc3, 0x28]), FORM), 400, 'invalid_request');
  assertRefused(await ask('', FORM), 400, 'invalid_request');
});

test('another content type is refused', async () => {
  const answer = await ask('<x/>', { 'content-type': 'application/xml' });
  assertError(answer, 415, 'unsupported_media_type');
  assert.equal(answer.body.error_description, answer.body.message);
});

test('a repeated form parameter is refused', async () => {
  const fields = new URLSearchParams(valid as Record<string, string>).toString();
  for (const again of ['scope=trades%3Aread', 'grant_type=client_credentials', 'client_id=x', 'zz=1&zz=1'])
    assertRefused(await ask(`${fields}&${again}`, FORM), 400, 'invalid_request', /only once/);
});

test('credentials both by Basic and in the body are an invalid_request', async () => {
  const headers = { ...JSON_TYPE, authorization: basic(`${key.clientId}:${key.secret}`) };
  assertRefused(await ask(valid, headers), 400, 'invalid_request', /not both/);
  assertRefused(await ask(without('client_id'), headers), 400, 'invalid_request', /not both/);
  const differs = { ...without('client_secret'), client_id: bankKey.clientId };
  assertRefused(await ask(differs, headers), 400, 'invalid_request', /differs/);
});

test('an Authorization header other than Basic is an invalid_client, regardless of the body', async () => {
  const broken = ['Basic', 'Basic ', 'Basic !', basic('nocolon'), basic('%zz:x'), 'Digest a="b"'];
  for (const authorization of broken)
    assertRefused(await ask(valid, { ...JSON_TYPE, authorization }), 401, 'invalid_client');
});

test('a Bearer token beside credentials in the body is ignored', async () => {
  const credentials = { client_id: key.clientId, client_secret: key.secret };
  for (const authorization of ['Bearer abc', 'bearer', `Bearer ${'x'.repeat(2_000)}`]) {
    assert.equal((await ask(valid, { ...JSON_TYPE, authorization })).status, 200);
    for (const path of ['introspect', 'revoke']) {
      const payload = { ...credentials, token: 'x' };
      const headers = { authorization };
      assert.equal((await app.call({ method: 'POST', url: `/oauth/${path}`, payload, headers })).status, 200);
    }
  }
  const wrong = {
    ...credentials,
    client_secret: 'x',
    grant_type: 'client_credentials',
    scope: 'trades:read',
  };
  const headers = { ...JSON_TYPE, authorization: 'Bearer abc' };
  assertRefused(await ask(JSON.stringify(wrong), headers), 401, 'invalid_client');
});

test('no other grant is supported', async () => {
  for (const grant of [
    'password',
    'authorization_code',
    'refresh_token',
    'CLIENT_CREDENTIALS',
    'toString',
    '',
  ])
    assertRefused(await ask({ ...valid, grant_type: grant }), 400, 'unsupported_grant_type');
});

test('an unknown client and a wrong secret get identical responses but for the request id', async () => {
  const raw = async (changes: Fields) => {
    const payload = { ...valid, ...changes };
    const { statusCode, headers, body } = await app.server.inject({
      method: 'POST',
      url: '/oauth/token',
      payload,
    });
    assert.equal(statusCode, 401);
    return { body, headers: { ...headers, 'x-request-id': '', date: '' } };
  };
  const wrongSecret = await raw({ client_secret: bankKey.secret });
  assert.equal(JSON.parse(wrongSecret.body).message_code, 'invalid_client');
  for (const changes of [
    { client_id: '0'.repeat(32) },
    { client_id: 'nonsense' },
    { client_id: '' },
    { client_id: key.clientId.toUpperCase() },
    { client_secret: '' },
    { client_secret: key.secret.slice(0, -1) },
    { client_secret: `${key.secret} ` },
    { client_secret: key.secret.toLowerCase() },
  ])
    assert.deepEqual(await raw(changes), wrongSecret, JSON.stringify(changes));
});

test('the order is: client, grant, environment, scope', async () => {
  const at = (fields: Fields) => ask(fields, { ...JSON_TYPE, host: PRODUCTION_HOST });
  const allWrong = { ...requestOf(bankKey), client_secret: 'x', grant_type: 'password', scope: 'no:such' };
  assertRefused(await at(allWrong), 401, 'invalid_client');
  const grantWrong = { ...allWrong, client_secret: bankKey.secret };
  assertRefused(await at(grantWrong), 400, 'unsupported_grant_type');
  const environmentWrong = { ...grantWrong, grant_type: 'client_credentials' };
  assertRefused(await at(environmentWrong), 401, 'invalid_client');
  assertRefused(await ask(environmentWrong), 400, 'invalid_scope');
});

test('a client_id that the database cannot store is an unknown client', async () => {
  const random = Buffer.from(Array.from({ length: 9_000 }, (_, index) => (index * 7919) % 251)).toString(
    'base64',
  );
  for (const clientId of ['a%00b', '%F0%9F%A6%8A', '%EF%BF%BD', encodeURIComponent(random)]) {
    const { client_id: _, client_secret: __, ...rest } = valid;
    const headers = { ...JSON_TYPE, authorization: basic(`${clientId}:x`) };
    assertRefused(await ask(rest, headers), 401, 'invalid_client');
  }
  const fields = new URLSearchParams({ ...(valid as Record<string, string>), client_id: 'a\0b' });
  assertRefused(await ask(fields.toString(), FORM), 400, 'invalid_request', /^client_id /);
});

test('any form and any Basic header get a response without an internal error', async () => {
  const text = fc.oneof(fc.string({ unit: ANY_CHARACTER }), fc.constantFrom('\0', '%00', 'a:\0', ':', ''));
  const changes = fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(valid)), fc.string()), text);
  await fc.assert(
    fc.asyncProperty(changes, fc.option(text), async (changed, credentials) => {
      const body = new URLSearchParams({ ...(valid as Record<string, string>), ...changed }).toString();
      const authorization = credentials === null ? {} : { authorization: basic(credentials) };
      const { status, body: answer } = await ask(body, { ...FORM, ...authorization });
      assert.ok([200, 400, 401].includes(status), JSON.stringify(answer));
    }),
    { numRuns: 200 },
  );
});
