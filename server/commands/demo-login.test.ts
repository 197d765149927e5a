import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOUNDED, createSite, waitFor } from '../../testing/serve.ts';

const json = { 'content-type': 'application/json' };

test('the Founder of the demo can log in, and the log has links for a new password', BOUNDED, async (t) => {
  const site = await createSite(t);
  const running = await site.serve();
  await waitFor('the welcome', running, () => running.out().includes('Ctrl-C'));
  const shown = (label: string) => new RegExp(`^ {2}${label} +(\\S+)$`, 'm').exec(running.out())?.[1] ?? '';
  const [email, password] = [shown('Founder'), shown('password')];
  assert.match(password, /^[\w-]{16}$/);
  const post = (path: string, body: object) =>
    fetch(`${site.url}/dashboard${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });

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
  const link = () => /set-password#token=([\w-]{43})/.exec(running.out())?.[1];
  await waitFor('the link', running, () => link() !== undefined);
  assert.equal((await post('/password', { token: link(), password: 'a brand new password' })).status, 200);

  const operate = site.start(['operator', 'members', 'list', String((await only(site)).guid)]);
  const { code, out } = await operate.exited;
  assert.equal(code, 0);
  assert.match(out, /founder@demo\.example/);
});

async function only(site: Awaited<ReturnType<typeof createSite>>): Promise<{ guid: string }> {
  const { body } = await site.operate('GET', '/organizations');
  return (body.objects as { guid: string }[])[0] as { guid: string };
}
