import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../testing/app/app.ts';
import { everyScope, PRODUCTION_HOST } from '../../testing/app/tenant.ts';

/** RFC 8414 metadata. */
const app = await createTestApp();

for (const host of ['localhost:4000', PRODUCTION_HOST])
  test(`the metadata at ${host} names only that issuer`, async () => {
    const url = '/.well-known/oauth-authorization-server';
    const { status, headers, body } = await app.call({ url, headers: { host } });
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^application\/json/);
    const issuer = `http://${host}`;
    const methods = ['client_secret_basic', 'client_secret_post'];
    assert.deepEqual(body, {
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      access_token_signing_alg_values_supported: ['ES256'],
      scopes_supported: everyScope('organization').split(' '),
    });
  });

test('the metadata has no empty list (RFC 8414, section 3.2)', async () => {
  const { body } = await app.call({ url: '/.well-known/oauth-authorization-server' });
  for (const [name, value] of Object.entries(body))
    assert.ok(typeof value === 'string' || (value as unknown[]).length > 0, name);
});

test('both issuers publish the same keys, also before the first token', async () => {
  const keysAt = async (host: string) =>
    (await app.call({ url: '/.well-known/jwks.json', headers: { host } })).body.keys;
  const keys = await keysAt('localhost:4000');
  assert.equal((keys as unknown[]).length, 1);
  assert.deepEqual(await keysAt(PRODUCTION_HOST), keys);
});

test('a caller’s Host is never echoed into the metadata', async () => {
  const url = '/.well-known/oauth-authorization-server';
  const { body } = await app.call({
    url,
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  });
  assert.equal(body.issuer, 'http://localhost:4000');
  assert.ok(!JSON.stringify(body).includes('evil'));
});
