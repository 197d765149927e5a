import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { TOLD_AFTER_MS, untilWatched } from '../../testing/webhooks/live.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { eventIn, isSignedWith, pass, until } from '../../testing/webhooks/webhooks.ts';
import { allowCurrentAddress, takeSecret } from '../support/one-time-secrets.ts';
import { navigationOf, poll, watchForText } from '../support/pages.ts';
import { submitLogin } from '../support/people.ts';
import { ADDRESS, SUPPORT_EMAIL } from '../support/site.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

/** The first hour of a new partner, in one browser: each test continues where the previous one ended. */
const { url } = site;
await startDispatcher();
const { body: organization } = await app.operate('POST', '/organizations', {
  ...{ name: 'Acme', features: ['webhooks', 'files'] },
});
const organizationGuid = String(organization.guid);
const founder = await joinTeam(app, organizationGuid);
const page = await pages.openWith({ permissions: ['clipboard-read', 'clipboard-write'] });
const navigation = navigationOf(page);
const dialog = page.getByRole('dialog');
const backend = await createTestEndpoint();
const broken = await createTestEndpoint();

const run = promisify(execFile);
const OTHER_ADDRESS = '198.35.26.97';
const key = { id: '', secret: '' };
let bankGuid = '';

/** A token request of the partner's application. */
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

/** curl sends the proxy header, so that the call comes from the address of the browser. */
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

async function publishAndDeliver(): Promise<string> {
  const [guid = ''] = await publishEvents(app, { organizationGuid, bankGuid });
  await app.dispatcher.drain();
  return guid;
}

test('the first login opens the onboarding', async () => {
  // Other specs of the group may have advanced the clock since the page was opened.
  await page.clock.setSystemTime(app.clock.now());
  await page.goto('/');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await submitLogin(page, founder);
  await page.getByRole('heading', { name: 'Get started' }).waitFor();
});

test('the onboarding creates a sandbox bank and a key for the current address', async () => {
  await page.getByLabel('Bank name').fill('Acme Bank');
  await page.getByRole('button', { name: 'Create bank' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  await page.waitForURL((url) => url.searchParams.has('bank'));
  bankGuid = String(new URL(page.url()).searchParams.get('bank'));
  await allowCurrentAddress(page);
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  key.id = String(await page.locator('[data-secret=client_id]').textContent());
  key.secret = await takeSecret(page, 'client_secret', 'Continue');
});

test('the onboarding creates a subscription and delivers a test event', async () => {
  await page.getByRole('button', { name: 'Use an inbox' }).click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('input')].some(({ value }) => value.includes('/portico-inbox/')),
  );
  assert.equal(await page.getByLabel('Name').inputValue(), 'Inbox 1');
  await page.getByLabel('Name').fill('Payments backend');
  await page.getByLabel('URL').fill(`${backend.url}/hook`);
  await page.getByRole('button', { name: 'Create subscription' }).click();
  const signingKey = await takeSecret(page, 'signing_key', 'Continue');
  await app.dispatcher.drain();
  const before = backend.received.length;
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByRole('button', { name: 'Send another' }).waitFor();
  await app.dispatcher.drain();
  await poll(page);
  await page.getByText('Delivered.').waitFor();
  assert.equal(backend.received.length, before + 1);
  const request = backend.received.at(-1);
  assert.ok(request);
  assert.equal(eventIn(request).event_type, 'subscription.storing');
  assert.ok(isSignedWith(signingKey, request));
});

test('the last step shows a curl command with a masked secret; the copied command works', async () => {
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  const shown = String(await page.getByRole('region', { name: 'command' }).textContent());
  assert.ok(shown.includes(`curl -s ${url}/oauth/token -u "${key.id}:`), shown);
  assert.ok(!shown.includes(key.secret));
  const copied = await watchForText(page, 'Copied');
  await page.getByRole('button', { name: 'Copy command' }).click();
  await copied();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(command.includes(key.secret));
  const { objects } = JSON.parse(await runInShell(command)) as { objects: unknown };
  assert.deepEqual(objects, []);
});

test('the key works only from allowed addresses, which can be edited', async () => {
  const token = await getToken(ADDRESS);
  assert.equal((await listCustomers(token, ADDRESS)).status, 200);
  const rejected = await listCustomers(token, OTHER_ADDRESS);
  assert.deepEqual([rejected.status, rejected.body.message_code], [403, 'ip_not_allowed']);

  await page.getByRole('link', { name: 'Go to overview', exact: true }).click();
  await navigation.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for First key' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await dialog.getByRole('button', { name: 'Add address' }).click();
  await dialog.getByLabel('Allowed address 2').fill(OTHER_ADDRESS);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('row', { name: /First key/ })
    .getByText(OTHER_ADDRESS)
    .waitFor();
  assert.equal((await listCustomers(await getToken(OTHER_ADDRESS), OTHER_ADDRESS)).status, 200);
});

test('a delivery appears on the live page', async () => {
  await navigation.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  const guid = await publishAndDeliver();
  const request = backend.received.at(-1);
  assert.ok(request);
  assert.equal(eventIn(request).guid, guid);
  app.clock.advance(TOLD_AFTER_MS);
  const row = page.getByRole('row', { name: /transfer\.completed/ });
  await row.locator('[data-state=completed]').waitFor();
  await row.getByRole('link', { name: 'Payments backend' }).waitFor();
});

test('a failing endpoint shows its next attempt, and an event can be redelivered', async () => {
  await navigation.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  await dialog.getByLabel('Name').fill('Ledger');
  await dialog.getByLabel('URL').fill(broken.url);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await takeSecret(page, 'signing_key', 'Done');
  await page.getByRole('heading', { name: 'Ledger' }).waitFor();
  await app.dispatcher.drain();
  broken.behave({ kind: 'answer', status: 503, body: 'closed for today' });
  const guid = await publishAndDeliver();

  const row = page.getByRole('row', { name: /transfer\.completed/ });
  await poll(page);
  await row.getByText('HTTP 503').waitFor();
  await row.locator('[data-next-attempt]').waitFor();
  await navigation.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('1 endpoint is failing').waitFor();
  await page.getByRole('alert').getByRole('link', { name: 'Ledger' }).click();
  await row.getByRole('button', { name: 'Attempts' }).click();
  await dialog.getByText('closed for today').waitFor();

  broken.behave({ kind: 'answer', status: 204 });
  await dialog.getByRole('button', { name: 'Redeliver' }).click();
  await dialog.getByRole('status', { name: 'Redelivery' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await pass(60_000, [app]);
  const countRequests = () => broken.received.filter((request) => eventIn(request).guid === guid).length;
  await until(() => countRequests() >= 3, 'the first attempt, its retry and the redelivery');
  await poll(page);
  await row.locator('[data-state=completed]').nth(1).waitFor();
});

test('a deletion shows a countdown, and a protected subscription the support address', async () => {
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('textbox').fill('Ledger');
  await dialog.getByRole('button', { name: 'Delete in 24 hours' }).click();
  await page
    .locator('[data-countdown]')
    .getByText(/Deleted in 2[34] h/)
    .waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);

  await navigation.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('link', { name: 'Payments backend' }).click();
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  const guid = new URL(page.url()).pathname.split('/').at(-1);
  await app.operate('PATCH', `/subscriptions/${guid}`, { protection_enabled: true });
  await page.reload();
  await page.getByRole('link', { name: SUPPORT_EMAIL }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
});
