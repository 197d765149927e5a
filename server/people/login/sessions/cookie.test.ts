import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { browse, browserOf, joinTeam, logIn } from '../../../../testing/people/dashboard.ts';

/** Attributes of the session cookie, and CSRF protection. */
const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const person = await joinTeam(app, organizationGuid);
const OURS = 'http://localhost:4000';

test('the cookie is HttpOnly, SameSite=Strict and lasts seven days', async () => {
  const cookie = String((await logIn(app, person)).headers['set-cookie']);
  assert.match(cookie, /^portico_session=[\w-]{43}; /);
  const attributes = cookie.split('; ').slice(1).sort();
  assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict']);
});

test('on https the cookie is Secure and has the __Host- prefix', async () => {
  const https = await createTestApp({ environment: { PORTICO_BASE_URL: 'https://portico.example' } });
  const tenant = await createTenant(https);
  const founder = await joinTeam(https, tenant.organizationGuid);
  const answer = await logIn(https, founder);
  const cookie = String(answer.headers['set-cookie']);
  assert.match(cookie, /^__Host-portico_session=[\w-]{43}; /);
  const attributes = cookie.split('; ').slice(1).sort();
  assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict', 'Secure']);
  assert.match(String(answer.headers['strict-transport-security']), /max-age/);
  assert.equal((await browse(https, 'GET', '/session', { as: browserOf(answer) })).status, 200);
  const plain = browserOf(answer).cookie.replace('__Host-', '');
  assertError(
    await browse(https, 'GET', '/session', { as: { cookie: plain } }),
    401,
    'authentication_failed',
  );
});

test('responses have headers against caching, framing, sniffing and scripts', async () => {
  const { headers } = await browse(app, 'GET', '/session', { as: person });
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.match(String(headers['content-security-policy']), /default-src 'none'/);
  assert.equal(headers['access-control-allow-origin'], undefined);
});

const payload = { organization_guid: organizationGuid, environment: 'sandbox' };
const ask = (headers: Record<string, string>) =>
  browse(app, 'POST', '/token', { as: person, payload, headers });

test('same-origin requests and clients other than browsers are accepted', async () => {
  for (const headers of [
    {},
    { origin: OURS },
    { 'sec-fetch-site': 'same-origin' },
    { origin: OURS, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json; charset=utf-8' },
  ])
    assert.equal((await ask(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
});

test('a cross-site request is refused, with the cookie and without', async () => {
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:4001' },
    { origin: 'https://localhost:4000' },
    { origin: `${OURS}.evil.example` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: OURS, 'sec-fetch-site': 'cross-site' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': 'text/plain; application/json' },
  ]) {
    assertError(await ask(headers as Record<string, string>), 403, 'csrf_refused');
    const login = { email: person.email, password: person.password };
    const answer = await browse(app, 'POST', '/login', {
      payload: login,
      headers: headers as Record<string, string>,
    });
    assertError(answer, 403, 'csrf_refused');
    assert.equal(answer.headers['set-cookie'], undefined);
  }
});

test('a request without a content type is refused, even without a body', async () => {
  const headers = { cookie: person.cookie };
  for (const [method, url] of [
    ['POST', '/dashboard/logout'],
    ['DELETE', `/dashboard/account/sessions/${'0'.repeat(32)}`],
  ] as const)
    assertError(await app.call({ method, url, headers }), 403, 'csrf_refused');
  assert.equal((await browse(app, 'GET', '/session', { as: person })).status, 200, 'still logged in');
});
