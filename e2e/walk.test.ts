import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { joinTeam } from '../testing/dashboard.ts';
import { publishEvents } from '../testing/events.ts';
import { TOLD_AFTER_MS, untilWatched } from '../testing/live.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { eventIn, isSignedWith, pass, until } from '../testing/webhooks.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { fillLogin } from './support/people.ts';
import { allowCurrentAddress, takeSecret } from './support/secrets.ts';
import { ADDRESS, createDashboardSite } from './support/site.ts';

/**
 * The way of a new partner through the dashboard, in one browser and in this order: each test goes on where the one
 * before it ended. Everything is real, the calls of the partner's own program included.
 */
const SUPPORT = 'help@portico.test';
const site = await createDashboardSite({ PORTICO_SUPPORT_EMAIL: SUPPORT });
const { app, url } = site;
await app.dispatcher.start();
const { body: organization } = await app.operate('POST', '/organizations', {
  ...{ name: 'Acme', features: ['webhooks', 'files'] },
});
const organizationGuid = String(organization.guid);
const founder = await joinTeam(app, organizationGuid);
const pages = createPages(await launchBrowser(), url);
const page = await pages.open({ permissions: ['clipboard-read', 'clipboard-write'] });
const menu = menuOf(page);
const dialog = page.getByRole('dialog');
const backend = await createTestEndpoint();
const broken = await createTestEndpoint();

const run = promisify(execFile);
const OTHER_ADDRESS = '198.35.26.97';
const key = { id: '', secret: '' };
let bankGuid = '';

/** What the partner's program does, from its address. */
async function getToken(address: string): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${key.id}:${key.secret}`).toString('base64')}`,
      'x-forwarded-for': address,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'customers:read' }),
  });
  const body = (await response.json()) as { access_token: string };
  assert.equal(response.status, 200, JSON.stringify(body));
  return body.access_token;
}

async function listCustomers(token: string, address: string) {
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address };
  const response = await fetch(`${url}/api/customers`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** As it was copied; that it comes from the address of the browser is the business of the proxy in front. */
async function runInShell(command: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-curl-'));
  try {
    await writeFile(join(folder, '.curlrc'), `header = "x-forwarded-for: ${ADDRESS}"\n`);
    const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, CURL_HOME: folder } });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function announce(): Promise<string> {
  const [guid = ''] = await publishEvents(app, { organizationGuid, bankGuid });
  await app.dispatcher.drain();
  return guid;
}

test('a Founder logs in, and is led to the wizard', async () => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await fillLogin(page, founder);
  await page.getByRole('heading', { name: 'Get started' }).waitFor();
});

test('the wizard makes a sandbox bank and its first key, with the address of this browser as its list', async () => {
  await page.getByLabel('Name of the bank').fill('Acme Bank');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Continue with Acme Bank' }).click();
  bankGuid = String(new URL(page.url()).searchParams.get('bank'));
  await allowCurrentAddress(page);
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  key.id = String(await page.locator('[data-secret=client_id]').textContent());
  key.secret = await takeSecret(page, 'client_secret', 'Continue');
});

test('the wizard creates a subscription, and the test event is seen to arrive', async () => {
  await page.getByLabel('Name').fill('Payments backend');
  await page.getByLabel('URL').fill(`${backend.url}/hook`);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const signingKey = await takeSecret(page, 'signing_key', 'Continue');
  await app.dispatcher.drain();
  const before = backend.received.length;
  await page.getByRole('button', { name: 'Send the test event' }).click();
  await page.getByRole('button', { name: 'Send another' }).waitFor();
  await app.dispatcher.drain();
  await page.getByText('It arrived.').waitFor();
  assert.equal(backend.received.length, before + 1);
  const arrived = backend.received.at(-1);
  assert.ok(arrived);
  assert.equal(eventIn(arrived).event_type, 'subscription.storing');
  assert.ok(isSignedWith(signingKey, arrived));
});

test('the wizard ends with a command that covers the secret on the screen, has it when it is copied, and works', async () => {
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  const shown = String(await page.getByRole('region', { name: 'command' }).textContent());
  assert.ok(shown.includes(`curl -s ${url}/oauth/token -u '${key.id}:`), shown);
  assert.ok(!shown.includes(key.secret));
  await page.getByRole('button', { name: 'Copy with the secret' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(command.includes(key.secret));
  const { objects } = JSON.parse(await runInShell(command)) as { objects: unknown };
  assert.deepEqual(objects, []);
});

test('the key gets a token, which works from its address and from no other until the list is edited', async () => {
  const token = await getToken(ADDRESS);
  assert.equal((await listCustomers(token, ADDRESS)).status, 200);
  const refused = await listCustomers(token, OTHER_ADDRESS);
  assert.deepEqual([refused.status, refused.body.message_code], [403, 'ip_not_allowed']);

  await page.getByRole('link', { name: 'To the overview', exact: true }).click();
  await menu.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for First key' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await dialog.getByRole('button', { name: 'Add another' }).click();
  await dialog.getByLabel('Allowed address 2').fill(OTHER_ADDRESS);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('row', { name: /First key/ })
    .getByText(OTHER_ADDRESS)
    .waitFor();
  assert.equal((await listCustomers(await getToken(OTHER_ADDRESS), OTHER_ADDRESS)).status, 200);
});

test('an event arrives at the endpoint, and its delivery is seen live without a reload', async () => {
  await menu.getByRole('link', { name: 'Live' }).click();
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  const guid = await announce();
  const arrived = backend.received.at(-1);
  assert.ok(arrived);
  assert.equal(eventIn(arrived).guid, guid);
  app.clock.advance(TOLD_AFTER_MS);
  const row = page.getByRole('row', { name: /transfer\.completed/ });
  await row.locator('[data-state=completed]').waitFor();
  await row.getByRole('link', { name: 'Payments backend' }).waitFor();
});

test('a failing endpoint is seen with its next attempt, and an event is sent to it again', async () => {
  await menu.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).click();
  await dialog.getByLabel('Name').fill('Ledger');
  await dialog.getByLabel('URL').fill(broken.url);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await takeSecret(page, 'signing_key', 'Done');
  await page.getByRole('heading', { name: 'Ledger' }).waitFor();
  await app.dispatcher.drain();
  broken.behave({ kind: 'answer', status: 503, body: 'closed for today' });
  const guid = await announce();

  const row = page.getByRole('row', { name: /transfer\.completed/ });
  await row.getByText('answered 503').waitFor();
  await row.locator('[data-next-attempt]').waitFor();
  await menu.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('One endpoint is failing').waitFor();
  await page.getByRole('alert').getByRole('link', { name: 'Ledger' }).click();
  await row.getByRole('button', { name: 'Attempts' }).click();
  await dialog.getByText('closed for today').waitFor();

  broken.behave({ kind: 'answer', status: 204 });
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await dialog.waitFor({ state: 'detached' });
  await pass(60_000, [app]);
  const times = () => broken.received.filter((request) => eventIn(request).guid === guid).length;
  await until(() => times() >= 3, 'the first attempt, its repetition and the one that was asked for');
  await row.locator('[data-state=completed]').nth(1).waitFor();
});

test('a deletion is counted down; of a protected one there is only an address to write to', async () => {
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('textbox').fill('Ledger');
  await dialog.getByRole('button', { name: 'Delete in 24 hours' }).click();
  await page
    .locator('[data-countdown]')
    .getByText(/Deleted in 2[34] h/)
    .waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);

  await menu.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('link', { name: 'Payments backend' }).click();
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  const guid = new URL(page.url()).pathname.split('/').at(-1);
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: true });
  await page.reload();
  await page.getByRole('link', { name: SUPPORT }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
});
