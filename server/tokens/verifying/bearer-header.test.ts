import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { listenAnywhere } from '../../../testing/app/http-server.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';

/** The Authorization header of `/api`, and the expiry of tokens. */
const app = await createTestApp();
const { bankKey } = await createTenant(app);
const token = await tokenOf(app, bankKey, 'customers:read');
const port = await listenAnywhere(app.server);

const send = (authorization?: string) =>
  app.call({ url: '/api/customers', headers: authorization === undefined ? {} : { authorization } });

/** Sends each value as a separate header line, which `inject` cannot do. */
async function overSocket(values: readonly string[]): Promise<Answer> {
  const lines = values.flatMap((value) => ['Authorization', value]);
  const headers = ['Host', 'localhost:4000', 'Connection', 'close', ...lines];
  const options = { host: '127.0.0.1', port, path: '/api/customers', headers };
  const [response] = await once(request(options).end(), 'response');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: (await json(response)) as Answer['body'],
  };
}

test('the scheme Bearer is accepted in any letter case, with one or more spaces', async () => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR    '])
    assert.equal((await send(scheme + token)).status, 200, scheme);
});

test('a missing header, or one without a Bearer token, is malformed', async () => {
  const message = 'The header Authorization: Bearer <access token> is required';
  const malformed = [
    ...[undefined, '', ' ', 'Bearer', 'Bearer ', 'Bearer  ', token, `Token ${token}`, `Bearer${token}`],
    ...[`Bearer:${token}`, `Bearer\t${token}`, ` Bearer ${token}`, `Bearer ${token} `, `Bearer ${token} x`],
    ...[`Bearer "${token}"`, `Bearer ${token},`, `Bearer ${token}, Bearer ${token}`, `Basic ${token}`],
    ...[
      `Bearer ${token}\0`,
      `Bearer \x01${token}`,
      `Bearer ${token}\x7f`,
      'Bearer é',
      'Bearer =',
      'Bearer \ud83e',
    ],
  ];
  for (const authorization of malformed) {
    const answer = await send(authorization);
    assertError(answer, 401, 'authentication_malformed', message);
    assert.equal(answer.body.error, 'unauthorized');
    // RFC 6750, section 3.1: an error code only where a bearer token was sent.
    const error = `, error="invalid_token", error_description="${message}"`;
    const sent = /^bearer\b/i.test(authorization ?? '');
    assert.equal(answer.headers['www-authenticate'], `Bearer realm="portico"${sent ? error : ''}`);
  }
});

test('a missing scope is named in WWW-Authenticate; other 403 responses do not have the header', async () => {
  const payload = { customer_guid: 'x', scopes: ['customers:read'] };
  const refused = await app.call({ method: 'POST', url: '/api/customer_tokens', token, payload });
  assertError(refused, 403, 'invalid_scopes');
  assert.equal(
    refused.headers['www-authenticate'],
    'Bearer realm="portico", error="insufficient_scope", error_description="This operation needs the scope ' +
      'customers:write", scope="customers:read customers:write"',
  );
  const gated = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
  const elsewhere = await tokenOf(app, gated.bankKey, 'customers:read');
  const denied = await app.call({ url: '/api/customers', token: elsewhere });
  assertError(denied, 403, 'ip_not_allowed');
  assert.equal(denied.headers['www-authenticate'], undefined);
});

test('a well-formed invalid token is refused like every other', async () => {
  for (const text of ['x', '.', '..', '...', 'a.b.c', 'null', `${token}.`, `.${token}`, `${token}.${token}`])
    assertError(await send(`Bearer ${text}`), 401, 'authentication_failed', 'The access token is not valid');
  const operator = await app.call({ url: '/operator/organizations', token: 'wrong' });
  assertError(operator, 401, 'authentication_failed');
  assert.match(String(operator.headers['www-authenticate']), /, error="invalid_token"/);
});

test('an overlong token is refused, well-formed or not', async () => {
  for (const size of [8_193, 10_240, 1_048_576])
    for (const filler of ['a', '.', 'a.'])
      assertError(await send(`Bearer ${filler.repeat(size / filler.length)}`), 401, 'authentication_failed');
  const [header, , signature] = token.split('.');
  const long = `${header}.${'a'.repeat(1_048_576)}.${signature}`;
  assertError(await send(`Bearer ${long}`), 401, 'authentication_failed');
});

test('two Authorization headers are malformed, even if both are valid', async () => {
  const right = `Bearer ${token}`;
  assert.equal((await overSocket([right])).status, 200);
  for (const values of [
    [right, right],
    [right, 'Bearer x'],
    ['Bearer x', right],
    ['', right],
    [right, 'Basic eDp5'],
  ])
    assertError(await overSocket(values), 401, 'authentication_malformed');
});

test('a token in the query string or the body is ignored', async () => {
  const url = `/api/customers?access_token=${token}`;
  assertError(await app.call({ url }), 401, 'authentication_malformed');
  const payload = { access_token: token };
  const posted = await app.call({ method: 'POST', url: '/api/customers', payload });
  assertError(posted, 401, 'authentication_malformed');
});

test('every other header value gets 401', async () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: ANY_CHARACTER }));
  const header = fc.oneof(
    text,
    text.map((rest) => `Bearer ${rest}`),
  );
  await fc.assert(
    fc.asyncProperty(header, async (authorization) => {
      assert.equal((await send(authorization)).status, 401);
    }),
    { numRuns: 300 },
  );
});

test('a token expires exactly at exp, cached or not', async () => {
  const issuedAt = app.clock.now().getTime();
  const fresh = await tokenOf(app, bankKey, 'customers:read');
  app.clock.set(new Date(issuedAt + 1_799_999));
  assert.equal((await send(`Bearer ${token}`)).status, 200);
  app.clock.set(new Date(issuedAt + 1_800_000));
  // The first is cached, the second is not.
  for (const known of [token, fresh]) {
    assertError(await send(`Bearer ${known}`), 401, 'authentication_failed', 'Signature has expired');
    assertError(await send(`Bearer ${known}`), 401, 'authentication_failed', 'Signature has expired');
  }
});

test('an expired token with a wrong signature is invalid, not expired', async () => {
  const tampered = token.slice(0, -10) + token.slice(-10).split('').reverse().join('');
  assertError(
    await send(`Bearer ${tampered}`),
    401,
    'authentication_failed',
    'The access token is not valid',
  );
});
