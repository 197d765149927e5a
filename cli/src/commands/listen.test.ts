import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { runCli } from '../testing/cli.ts';

const URL_OF_API = 'http://127.0.0.1:2';
const configDir = await mkdtemp(join(tmpdir(), 'portico-cli-'));
after(() => rm(configDir, { recursive: true, force: true }));
const env = {
  ...{ PORTICO_CLI_CONFIG_DIR: configDir, PORTICO_CLI_URL: URL_OF_API },
  ...{ PORTICO_CLI_CLIENT_ID: 'a', PORTICO_CLI_CLIENT_SECRET: 'b' },
};
const CLAIMS = Buffer.from('{"organization_guid":"o"}').toString('base64url');

/** Runs it until the stream has ended, and returns what it asked for and said. */
async function listen(t: TestContext, ...options: string[]) {
  const stop = new AbortController();
  let lastEventId: string | null = null;
  const fetched = t.mock.method(globalThis, 'fetch', (async (url, { headers } = {}) => {
    if (String(url).endsWith('/oauth/token'))
      return Response.json({ access_token: `x.${CLAIMS}.x`, expires_in: 1_800 });
    lastEventId = new Headers(headers).get('last-event-id');
    return new Response('id: 8\n\n');
  }) as typeof fetch);
  const { code, err } = await runCli(['listen', ...options], {
    ...{ env, signal: stop.signal, onOutput: (text) => /Listening/.test(text) && stop.abort() },
  });
  // Before the next run: mocks of the same method are not restored in their order.
  fetched.mock.restore();
  assert.equal(code, 0, err);
  return { lastEventId, err };
}

test('listen says where it begins', async (t) => {
  assert.match((await listen(t)).err, /^Listening in sandbox, from now on\. Stop with Ctrl-C\.\n$/);
  assert.match((await listen(t, '--since', '2026-11-18')).err, /sandbox, since 2026-11-18T00:00:00\.000Z\./);
});

test('a position that an earlier version kept per key pair is continued', async (t) => {
  const name = createHash('sha256').update([URL_OF_API, 'sandbox', 'a', '', 'bank.created'].join('\n'));
  await mkdir(join(configDir, 'listen'), { recursive: true });
  await writeFile(
    join(configDir, 'listen', `${name.digest('hex').slice(0, 32)}.json`),
    JSON.stringify({ lastEventId: '7' }),
  );
  const { lastEventId, err } = await listen(t, '--events', 'bank.created');
  assert.equal(lastEventId, '7');
  assert.match(err, /sandbox, from where the last run ended\./);
});
