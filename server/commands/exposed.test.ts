import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BOUNDED, createSite, type Running, waitFor } from '../../testing/app/serve.ts';

/** `serve` with the embedded database at an address that others can reach, on loopback, and exposed again. */
const site = await createSite({ after });
const EXPOSED = { PORTICO_BASE_URL: 'https://api.example.com' };
const JSON_BODY = { 'content-type': 'application/json' };
let local: Running;

async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM');
  assert.equal((await running.exited).code, 0);
}

test(
  'an exposed service has no local defaults, and the operator API has its own listener',
  BOUNDED,
  async () => {
    const running = await site.serve(EXPOSED);
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
    for (const path of ['/operator/openapi.json', '/operator/docs/']) {
      assert.equal(await statusOf(`${site.url}${path}`), 404, path);
      assert.equal(await statusOf(`${site.operatorUrl}${path}`), 200, path);
    }

    const asked = await fetch(`${site.url}/dashboard/password_resets`, {
      method: 'POST',
      headers: { ...JSON_BODY, origin: 'https://api.example.com' },
      body: JSON.stringify({ email: 'unknown@example.com' }),
    });
    assert.equal(((await asked.json()) as { link_by: string }).link_by, 'operator');

    const listed = await site.run(['operator', 'organizations', 'list'], EXPOSED);
    assert.equal(listed.code, 0, listed.err);
    assert.equal(JSON.parse(listed.out).total, 0, 'no demo exists');
    await stop(running);
  },
);

/** A line of the welcome of the local service. */
function shown(label: string): string {
  return new RegExp(`^ {2}${label} +(\\S+)$`, 'm').exec(local.out())?.[1] ?? '';
}

test('the Founder of the demo can log in, and the log has links for a new password', BOUNDED, async () => {
  local = await site.serve();
  const [email, password] = [shown('Founder'), shown('password')];
  assert.match(password, /^[\w-]{16}$/);
  const post = (path: string, body: object) =>
    fetch(`${site.url}/dashboard${path}`, {
      method: 'POST',
      headers: JSON_BODY,
      body: JSON.stringify(body),
    });

  const login = await post('/login', { email, password });
  assert.equal(login.status, 200);
  assert.match(login.headers.get('set-cookie') ?? '', /^portico_session=/);
  const session = (await login.json()) as { organizations: { name: string; role: string }[] };
  assert.deepEqual(
    session.organizations.map(({ name, role }) => [name, role]),
    [['Demo Organization', 'founder']],
  );

  const asked = await post('/password_resets', { email });
  assert.equal(asked.status, 202);
  assert.equal(((await asked.json()) as { link_by: string }).link_by, 'log');
  const link = () => /set-password#token=([\w-]{43})/.exec(local.out())?.[1];
  await waitFor('the link', local, () => link() !== undefined);
  assert.equal((await post('/password', { token: link(), password: 'a brand new password' })).status, 200);

  const { body } = await site.operate('GET', '/organizations');
  const [organization] = body.objects as { guid: string }[];
  const { code, out } = await site.run(['operator', 'members', 'list', String(organization?.guid)]);
  assert.equal(code, 0);
  assert.match(out, /founder@demo\.example/);
});

test('the demo of a data directory is closed before the exposed service listens', BOUNDED, async () => {
  const credentials = `${shown('client_id')}:${shown('client_secret')}`;
  const requestStatus = async () => {
    const headers = { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'customers:read' });
    return (await fetch(`${site.url}/oauth/token`, { method: 'POST', headers, body })).status;
  };
  assert.equal(await requestStatus(), 200);
  await stop(local);

  const exposed = await site.serve(EXPOSED);
  assert.match(exposed.out(), /closed the demo/);
  assert.equal(await requestStatus(), 401);
  await stop(exposed);
});
