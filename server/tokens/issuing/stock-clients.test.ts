import assert from 'node:assert/strict';
import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { after, test } from 'node:test';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
// @ts-expect-error It comes without types.
import { ClientCredentials } from 'simple-oauth2';
import { createTestApp } from '../../../testing/app/app.ts';
import { PATIENCE_MS } from '../../../testing/app/patience.ts';
import { findServicePort } from '../../../testing/app/serve.ts';
import { createTenant } from '../../../testing/app/tenant.ts';

/** OAuth client libraries that partners use, over a real port. */
// A host that is also named `::1` has half a second to connect by default, which a busy machine exceeds.
const attemptMs = getDefaultAutoSelectFamilyAttemptTimeout();
setDefaultAutoSelectFamilyAttemptTimeout(PATIENCE_MS);
after(() => setDefaultAutoSelectFamilyAttemptTimeout(attemptMs));
const port = await findServicePort();
const SANDBOX = `http://127.0.0.1:${port}`;
const PRODUCTION = `http://localhost:${port}`;
const app = await createTestApp({
  environment: {
    PORTICO_BASE_URL: SANDBOX,
    PORTICO_SANDBOX_AUTH_URL: SANDBOX,
    PORTICO_PRODUCTION_AUTH_URL: PRODUCTION,
  },
});
await app.server.listen({ port, host: '127.0.0.1' });
const { organizationKey: key } = await createTenant(app);
const SCOPE = 'customers:read trades:read';

const statusOf = async (token: string) =>
  (await fetch(`${SANDBOX}/api/customers`, { headers: { authorization: `Bearer ${token}` } })).status;

for (const [name, method] of [
  ['client_secret_basic', client.ClientSecretBasic],
  ['client_secret_post', client.ClientSecretPost],
] as const)
  test(`openid-client with ${name}: discover, obtain, introspect, revoke`, async () => {
    const config = await client.discovery(new URL(SANDBOX), key.clientId, key.secret, method(key.secret), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    });
    const granted = await client.clientCredentialsGrant(config, { scope: SCOPE });
    assert.equal(granted.scope, SCOPE);
    assert.equal(granted.expires_in, 1_800);
    assert.equal(granted.refresh_token, undefined);
    const response = await client.fetchProtectedResource(
      config,
      granted.access_token,
      new URL(`${SANDBOX}/api/customers`),
      'GET',
    );
    assert.equal(response.status, 200);
    const { active, client_id, scope } = await client.tokenIntrospection(config, granted.access_token);
    assert.deepEqual([active, client_id, scope], [true, key.clientId, SCOPE]);
    await client.tokenRevocation(config, granted.access_token);
    assert.equal((await client.tokenIntrospection(config, granted.access_token)).active, false);
    assert.equal(await statusOf(granted.access_token), 401);
  });

test('openid-client parses the errors', async () => {
  const options = { algorithm: 'oauth2' as const, execute: [client.allowInsecureRequests] };
  const discover = (secret: string) =>
    client.discovery(new URL(SANDBOX), key.clientId, secret, client.ClientSecretBasic(secret), options);
  await assert.rejects(
    client.clientCredentialsGrant(await discover(key.secret), { scope: 'no:such' }),
    (error) =>
      error instanceof client.ResponseBodyError &&
      error.error === 'invalid_scope' &&
      error.error_description === 'Unknown scope no:such',
  );
  await assert.rejects(
    client.clientCredentialsGrant(await discover('wrong'), { scope: SCOPE }),
    (error) => error instanceof client.WWWAuthenticateChallengeError && error.status === 401,
  );
});

test('oauth4webapi at the production issuer: discover, obtain, introspect, revoke', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(PRODUCTION);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const self = { client_id: key.clientId };
  const authentication = oauth.ClientSecretPost(key.secret);
  const scope = { scope: SCOPE };
  const asked = await oauth.clientCredentialsGrantRequest(server, self, authentication, scope, insecure);
  const { access_token: token } = await oauth.processClientCredentialsResponse(server, self, asked);
  const introspected = await oauth.introspectionRequest(server, self, authentication, token, insecure);
  const answer = await oauth.processIntrospectionResponse(server, self, introspected);
  assert.deepEqual([answer.active, answer.iss, answer.environment], [true, PRODUCTION, 'production']);
  const revoked = await oauth.revocationRequest(server, self, authentication, token, insecure);
  await oauth.processRevocationResponse(revoked);
  assert.equal(await statusOf(token), 401);
});

test('oauth4webapi as a resource server accepts the tokens by RFC 9068', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(SANDBOX);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const authentication = oauth.ClientSecretPost(key.secret);
  const self = { client_id: key.clientId };
  const skew = Math.round((app.clock.now().getTime() - Date.now()) / 1_000);
  for (let times = 0; times < 4; times++) {
    const scope = { scope: SCOPE };
    const granted = await oauth.clientCredentialsGrantRequest(server, self, authentication, scope, insecure);
    const { access_token: token } = await oauth.processClientCredentialsResponse(server, self, granted);
    const request = new Request(`${SANDBOX}/customers`, { headers: { authorization: `Bearer ${token}` } });
    const claims = await oauth.validateJwtAccessToken(server, request, SANDBOX, {
      ...insecure,
      [oauth.clockSkew]: skew,
    });
    assert.equal(claims.client_id, key.clientId);
  }
});

test('simple-oauth2 with headers, forms and JSON: obtain, and obtain again near the expiry', async () => {
  for (const options of [
    { authorizationMethod: 'header' },
    { authorizationMethod: 'body', bodyFormat: 'form' },
    { authorizationMethod: 'body', bodyFormat: 'json' },
  ]) {
    const partner = new ClientCredentials({
      client: { id: key.clientId, secret: key.secret },
      auth: { tokenHost: SANDBOX, tokenPath: '/oauth/token', revokePath: '/oauth/revoke' },
      options,
    });
    let held = await partner.getToken({ scope: SCOPE });
    assert.equal(held.expired(), false);
    assert.equal(held.expired(1_801), true);
    const old = held.token.access_token;
    held = await partner.getToken({ scope: SCOPE });
    assert.notEqual(held.token.access_token, old);
    // A new token does not revoke the previous one.
    for (const token of [old, held.token.access_token]) assert.equal(await statusOf(token), 200);
    await held.revoke('access_token');
    assert.equal(await statusOf(held.token.access_token), 401);
    assert.equal(await statusOf(old), 200);
  }
});

test('a downstream service verifies tokens with jose and the published keys, through a rotation', async () => {
  const keys = createRemoteJWKSet(new URL(`${SANDBOX}/.well-known/jwks.json`), {
    ...{ cooldownDuration: 0, timeoutDuration: PATIENCE_MS },
  });
  const obtain = async () => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: key.clientId,
      client_secret: key.secret,
      scope: SCOPE,
    });
    const response = await fetch(`${SANDBOX}/oauth/token`, { method: 'POST', body });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const verify = (token: string) =>
    jwtVerify(token, keys, {
      issuer: SANDBOX,
      audience: SANDBOX,
      typ: 'at+jwt',
      algorithms: ['ES256'],
      currentDate: app.clock.now(),
    });
  const before = await obtain();
  const { payload, protectedHeader } = await verify(before);
  assert.deepEqual([payload.sub, payload.scope], [key.clientId, SCOPE]);
  const rotated = await app.operate('POST', '/signing_keys/rotate');
  app.clock.advance(600_000);
  const after = await verify(await obtain());
  assert.equal(after.protectedHeader.kid, rotated.body.kid);
  assert.notEqual(after.protectedHeader.kid, protectedHeader.kid);
  await verify(before);
  app.clock.advance(1_200_000);
  await assert.rejects(verify(before), errors.JWTExpired);
});
