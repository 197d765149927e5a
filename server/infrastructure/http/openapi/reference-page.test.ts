import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app/app.ts';

/** `/docs` loads nothing from other hosts. */
const app = await createTestApp();
const PAGE = 'http://localhost:4000/docs/';
const page = await app.server.inject('/docs/');

test('each document has its page, also without the slash', async () => {
  for (const [address, document] of [
    ['/docs', '/openapi.json'],
    ['/operator/docs', '/operator/openapi.json'],
  ] as const) {
    const { statusCode, headers, body } = await app.server.inject(`${address}/`);
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-type']), /^text\/html/);
    assert.ok(body.includes(`"url":"${document}"`));
    const redirect = await app.server.inject(address);
    assert.deepEqual([redirect.statusCode, redirect.headers.location], [301, `${address}/`]);
  }
});

test('everything the page refers to is on this origin', () => {
  const attributes = page.body.matchAll(/(?:src|href|action)\s*=\s*["']([^"']*)["']/gi);
  const properties = page.body.matchAll(/"(?:\w*url|\w*uri)":\s*"([^"]*)"/gi);
  const styles = page.body.matchAll(/url\(\s*["']?([^"')]*)/gi);
  const addresses = [...attributes, ...properties, ...styles].map(([, address = '']) => address);
  assert.ok(addresses.length >= 2, addresses.join());
  for (const address of addresses) assert.equal(new URL(address, PAGE).origin, new URL(PAGE).origin, address);
  assert.doesNotMatch(page.body, /https?:/);
});

test('the script of the page is served from here', async () => {
  const [, source = ''] = /<script src="([^"]+)"/.exec(page.body) ?? [];
  const { statusCode, headers, body } = await app.server.inject(new URL(source, PAGE).pathname);
  assert.equal(statusCode, 200);
  assert.match(String(headers['content-type']), /^application\/javascript/);
  assert.ok(body.length > 100_000 && body.includes('createApiReference'));
});

test('the policy of the page lets nothing reach another origin', () => {
  const policy = new Map(
    String(page.headers['content-security-policy'])
      .split('; ')
      .map((directive) => directive.split(' '))
      .map(([name = '', ...sources]) => [name, sources]),
  );
  assert.deepEqual(policy.get('default-src'), ["'none'"]);
  assert.deepEqual(policy.get('connect-src'), ["'self'"]);
  for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
    assert.deepEqual(policy.get(name), ["'none'"], `${name} is not covered by default-src`);
  const local = ["'self'", "'none'", "'unsafe-inline'", 'data:', 'blob:'];
  for (const [name, sources] of policy)
    for (const source of sources) assert.ok(local.includes(source), `${name} ${source}`);
});

test('everything in the page that would talk to its makers is off', () => {
  const [, json = '{}'] = /createApiReference\('#app', (\{.*?\})\)\s*<\/script>/s.exec(page.body) ?? [];
  const { withDefaultFonts, telemetry, proxyUrl, agent, mcp, showDeveloperTools, hideClientButton } =
    JSON.parse(json) as Record<string, unknown>;
  assert.deepEqual(
    { withDefaultFonts, telemetry, proxyUrl, agent, mcp, showDeveloperTools, hideClientButton },
    {
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  );
});
