import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createCounter, createDispatching, stop } from '../../testing/app/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/app/serve.ts';
import { PNG, upload } from '../../testing/objects/files.ts';

/** Real processes: `api` creates objects and files, `dispatch` simulates and processes them, and either is killed. */
const counter = await createCounter({ after });
const dispatching = await createDispatching({ after });
const { operate, select, startDispatcher } = dispatching;
const { organizationGuid, bankGuid } = await dispatching.createEndpoint(counter.url);
const { client_id, client_secret } = await operate(`/banks/${bankGuid}/applications`, { name: 'Key' });
const scope = 'customers:execute trades:execute files:read files:execute';
const grant = { grant_type: 'client_credentials', client_id, client_secret, scope };
const { access_token } = await call('/oauth/token', grant);
const { guid: customer_guid } = await call('/api/customers', { type: 'individual' });
let dispatcher: Running;

async function call(path: string, body?: object) {
  const headers = {
    'content-type': 'application/json',
    ...(path.startsWith('/api/') ? { authorization: `Bearer ${access_token}` } : {}),
  };
  const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
  const response = await fetch(`${dispatching.url}${path}`, init);
  const answer = (await response.json()) as Record<string, unknown>;
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}

/** A file that waits for its upload, and a function that reads its state. */
async function createFile() {
  const file = { type: 'other', filename: 'a.png', content_type: 'image/png', customer_guid };
  const { guid, upload_url } = await call('/api/files', file);
  const stateNow = async () => (await call(`/api/files/${guid}`)).state;
  return { guid: String(guid), url: String(upload_url), stateNow };
}

async function stored(): Promise<string[]> {
  const folder = join(dispatching.dataDir, 'files');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('a dispatch process processes the uploads of an api process', BOUNDED, async () => {
  const { guid, url, stateNow } = await createFile();
  assert.equal((await upload(url, PNG)).status, 200);
  assert.equal(await stateNow(), 'storing');
  dispatcher = startDispatcher();
  await waitFor('the end of the file', dispatcher, async () => (await stateNow()) === 'completed');
  assert.deepEqual(await stored(), [guid]);
});

test('dispatchers simulate objects of the API, also after one was killed', BOUNDED, async () => {
  const input = { side: 'buy', symbol: 'BTC-USD', amount: 1, customer_guid };
  const trade = await call('/api/trades', input);
  const statesTold = () =>
    select<string>('select event_type from events where object_guid = $1 order by guid', trade.guid);
  const reached = (count: number, by: Running) =>
    waitFor(`state ${count}`, by, async () => (await statesTold()).length >= count);
  await reached(2, dispatcher);
  dispatcher.kill('SIGKILL');
  await dispatcher.exited;

  dispatcher = startDispatcher();
  await reached(5, dispatcher);
  assert.deepEqual(
    await statesTold(),
    ['storing', 'pending', 'executed', 'settling', 'completed'].map((state) => `trade.${state}`),
  );
  await waitFor('an empty queue', dispatcher, async () => (await dispatching.queued()) === 0);
  const sent = await select<string>(
    `select guid from events
     where organization_guid = $1 and (event_type like 'trade.%' or event_type = 'subscription.storing')`,
    organizationGuid,
  );
  const arrived = new Set(counter.arrivals.map(({ guid }) => guid));
  const afterwards = sent.map((guid) => guid.replaceAll('-', '')).filter((guid) => arrived.has(guid));
  assert.equal(afterwards.length, 6, 'five of the trade, and subscription.storing');
});

test(
  'a process that is killed during an upload leaves no file, and the upload can be repeated',
  BOUNDED,
  async () => {
    const before = await stored();
    const { guid, url, stateNow } = await createFile();
    const headers = { 'content-type': 'image/png', 'content-length': PNG.length };
    const outgoing = request(url, { method: 'PUT', headers }).on('error', () => {});
    outgoing.write(PNG.subarray(0, 30));
    const hasBegun = async () => (await stored()).length > before.length;
    await waitFor('the upload to begin', dispatching.api, hasBegun);
    dispatching.api.kill('SIGKILL');
    await dispatching.api.exited;
    assert.ok(!(await stored()).includes(guid), 'the partial content has no file name');

    await dispatching.startApi();
    assert.equal(await stateNow(), 'storing');
    // As if the lease of the killed process had expired, which takes 15 seconds.
    await select(`update files set upload_leased_until = '2020-01-01' where guid = $1`, guid);
    assert.equal((await upload(url, PNG)).status, 200);
    await waitFor('the end of the file', dispatcher, async () => (await stateNow()) === 'completed');
    await stop(dispatcher);
  },
);
