import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OPERATOR_TOKEN } from '../../testing/app.ts';
import { createTestDatabase } from '../../testing/database.ts';
import { PNG, upload } from '../../testing/files.ts';
import { BOUNDED, createSite, waitFor } from '../../testing/serve.ts';
import { query } from '../infrastructure/database/embedded/testing/temporary-server.ts';

/** Files across processes: an upload in one process, processing in another, and a killed process. */
async function createShared(t: TestContext) {
  const site = await createSite(t);
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const settings = {
    PORTICO_DATABASE_URL: database.url.reveal(),
    PORTICO_DATABASE_CONNECTIONS: '5',
    PORTICO_MASTER_KEY: 'a1'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTICO_UPLOAD_URL: site.url,
  };

  async function call(path: string, token: string | undefined, payload?: object, url = site.url) {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (token) headers.authorization = `Bearer ${token}`;
    const init = payload ? { method: 'POST', headers, body: JSON.stringify(payload) } : { headers };
    return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, string>;
  }

  /** A file that waits for its upload, and a function that reads its state. */
  async function createAwaited() {
    const operator = (path: string, payload: object) =>
      call(`/operator${path}`, OPERATOR_TOKEN, payload, site.operatorUrl);
    const { guid: organization } = await operator('/organizations', { name: 'Acme', features: ['files'] });
    const bank = await operator(`/organizations/${organization}/banks`, {
      name: 'B',
      environment: 'sandbox',
    });
    const key = await operator(`/banks/${bank.guid}/applications`, { name: 'Key' });
    const { access_token: token } = await call('/oauth/token', undefined, {
      grant_type: 'client_credentials',
      client_id: key.client_id,
      client_secret: key.client_secret,
      scope: 'customers:execute files:read files:execute',
    });
    const customer = await call('/api/customers', token, { type: 'individual' });
    const file = await call('/api/files', token, {
      ...{ type: 'other', filename: 'a.png', content_type: 'image/png' },
      customer_guid: customer.guid,
    });
    const stateNow = async () => (await call(`/api/files/${file.guid}`, token)).state;
    return { guid: String(file.guid), url: String(file.upload_url), stateNow };
  }

  async function stored(): Promise<string[]> {
    const folder = join(site.dataDir, 'files');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  return { site, settings, createAwaited, stored };
}

test('a dispatch process processes the uploads of an api process', BOUNDED, async (t) => {
  const { site, settings, createAwaited, stored } = await createShared(t);
  await site.serve(settings, 'api');
  const { guid, url, stateNow } = await createAwaited();
  assert.equal((await upload(url, PNG)).status, 200);
  assert.equal(await stateNow(), 'storing');
  const dispatcher = site.start(['dispatch'], settings);
  await waitFor('the end of the file', dispatcher, async () => (await stateNow()) === 'completed');
  assert.deepEqual(await stored(), [guid]);
  dispatcher.kill('SIGTERM');
  assert.equal((await dispatcher.exited).code, 0);
});

test(
  'a process that is killed during an upload leaves no file, and the upload can be repeated',
  BOUNDED,
  async (t) => {
    const { site, settings, createAwaited, stored } = await createShared(t);
    const killed = await site.serve(settings);
    const { guid, url, stateNow } = await createAwaited();
    const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
    const outgoing = request(url, { method: 'PUT', headers }).on('error', () => {});
    outgoing.write(PNG.subarray(0, 30));
    await waitFor('the upload to begin', killed, async () => (await stored()).length === 1);
    killed.kill('SIGKILL');
    await killed.exited;
    assert.ok(!(await stored()).includes(guid), 'the partial content has no file name');

    const next = await site.serve(settings);
    assert.equal(await stateNow(), 'storing');
    // As if the lease of the killed process had expired, which takes 15 seconds.
    await query(settings.PORTICO_DATABASE_URL, `update files set upload_leased_until = '2020-01-01'`);
    assert.equal((await upload(url, PNG)).status, 200);
    await waitFor('the end of the file', next, async () => (await stateNow()) === 'completed');
  },
);
