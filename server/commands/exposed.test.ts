import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BOUNDED, createSite } from '../../testing/serve.ts';

/** `serve` with the embedded database at an address that others can reach. */
test(
  'an exposed service has no local defaults, and the operator API has its own listener',
  BOUNDED,
  async (t) => {
    const site = await createSite(t);
    const settings = { PORTICO_BASE_URL: 'https://api.example.com' };
    const running = await site.serve(settings);
    const logged = running.out();
    assert.match(logged, /local defaults are off/);
    assert.match(logged, /PORTICO_BASE_URL=https:\/\/api\.example\.com/);
    assert.doesNotMatch(logged, /client_secret|Founder/);
    assert.ok(logged.includes(`PORTICO_OPERATOR_URL=${site.operatorUrl} npx portico operator`), logged);

    const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status;
    const token = (await readFile(join(site.dataDir, 'operator.token'), 'utf8')).trim();
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/operator/organizations', '/%6fperator/organizations', '/metrics'])
      assert.equal(await statusOf(`${site.url}${path}`, { headers }), 404, path);
    assert.equal(await statusOf(`${site.operatorUrl}/operator/organizations`, { headers }), 200);
    for (const path of ['/metrics', '/healthz', '/readyz'])
      assert.equal(await statusOf(`${site.operatorUrl}${path}`), 200, path);
    assert.match(await (await fetch(`${site.operatorUrl}/metrics`)).text(), /^process_cpu_seconds_total \d/m);
    assert.equal(await statusOf(`${site.operatorUrl}/api/files`), 404);
    assert.equal(await statusOf(`${site.url}/healthz`), 200);

    const calls = async (url: string) =>
      Object.keys(((await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }).paths);
    assert.ok(!(await calls(site.url)).some((path) => path.startsWith('/operator') || path === '/metrics'));
    assert.ok(!(await calls(site.operatorUrl)).some((path) => path.startsWith('/api')));

    const asked = await fetch(`${site.url}/dashboard/password_resets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://api.example.com' },
      body: JSON.stringify({ email: 'nobody@example.com' }),
    });
    assert.equal(((await asked.json()) as { link_by: string }).link_by, 'operator');

    const listed = await site.run(['operator', 'organizations', 'list'], settings);
    assert.equal(listed.code, 0, listed.err);
    assert.equal(JSON.parse(listed.out).total, 0, 'no demo exists');
    running.kill('SIGTERM');
    assert.equal((await running.exited).code, 0);
  },
);
