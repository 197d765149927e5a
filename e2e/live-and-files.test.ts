import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createCustomer } from '../testing/customers.ts';
import { publishEvents } from '../testing/events.ts';
import { PNG } from '../testing/files.ts';
import { TOLD_AFTER_MS, untilWatched } from '../testing/live.ts';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { pass, until } from '../testing/webhooks.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();

const SHOWN_PER_SECOND = 100;
const TOKEN_MS = 300_000;

test('attempts are shown as they come, the stream is opened again when its token ends, and a pause stops it', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: receiver.url });
  await app.dispatcher.drain();

  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  let streams = 0;
  page.on('response', (response) => {
    if (response.ok() && response.url().endsWith('/api/subscription_deliveries/live')) streams += 1;
  });
  const announce = async (count = 1) => {
    await publishEvents(app, tenant, count);
    await app.dispatcher.drain();
    app.clock.advance(TOLD_AFTER_MS);
  };
  await page.goto('/live');
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  await announce();
  await page.locator('[data-state=completed]').waitFor();
  assert.equal(await page.getByText(guid.slice(0, 8)).count(), 1, 'who may not see it knows it by its guid');
  await announce(SHOWN_PER_SECOND + 50);
  await page.locator('[data-state=completed]').nth(SHOWN_PER_SECOND).waitFor();
  app.clock.advance(TOLD_AFTER_MS);
  await page.getByText('50 more were too quick to show').waitFor();

  await pass(TOKEN_MS, [app], 10_000);
  await until(() => streams === 2, 'a second stream');
  receiver.behave({ kind: 'answer', status: 500 });
  await announce();
  await page.getByText('answered 500').waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('a refused stream is opened again by Resume or after its time, asks for the filters, and ends at the login', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  const refusals = [
    { status: 403, error: 'forbidden', code: 'invalid_scopes', message: 'Not for this role' },
    { status: 429, error: 'too_many_requests', code: 'rate_limit_exceeded', message: 'Close one first' },
  ];
  await page.route('**/api/subscription_deliveries/live*', async (route) => {
    const refusal = refusals.shift();
    if (!refusal) return route.continue();
    const { status, error, code, message } = refusal;
    const json = { error, message_code: code, message };
    return route.fulfill({ status, headers: { 'retry-after': '2' }, json });
  });
  const status = page.getByRole('status');
  await page.goto('/live');
  await page.getByText('Not for this role').waitFor();
  await status.getByText('Not connected').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Close one first').waitFor();
  assert.equal(await page.getByText('Not for this role').count(), 0);
  await status.getByText('Live', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);

  const filtered = page.waitForRequest((request) => request.url().endsWith('/live?state=failed'));
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'failed', exact: true }).click();
  await filtered;
  await status.getByText('Live', { exact: true }).waitFor();

  await page.context().clearCookies();
  await pass(TOKEN_MS, [app], 10_000);
  await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
});

/** A page with a customer and a type chosen, so that files can be dropped. */
async function openUploads() {
  const tenant = await createTenant(app);
  await createCustomer(app, tenant.bankGuid);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/files');
  await page.getByText('Choose the customer and the type first').waitFor();
  const panel = page.getByRole('region', { name: 'Upload' });
  await panel.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option').first().click();
  await panel.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'passport', exact: true }).click();
  return { page, panel };
}

test('files go straight to the upload URL, show how far they are, and are completed', async () => {
  const { page, panel } = await openUploads();

  // A connection slow enough that the bar can be seen to move.
  const network = await page.context().newCDPSession(page);
  const limitUpload = (bytesPerSecond: number) =>
    network.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond },
    });
  await limitUpload(256 * 1024);
  const content = Buffer.concat([PNG, Buffer.alloc(1024 * 1024 - PNG.length, 1)]);
  await panel.locator('input[type=file]').setInputFiles([
    { name: 'passport.png', mimeType: 'image/png', buffer: content },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') },
  ]);
  await page.getByText(/^[1-9]\d?% of 1\.0 MB$/).waitFor();
  await limitUpload(-1);
  await page.locator('[data-upload=done]').getByText('Uploaded, 1.0 MB').waitFor();
  await page.locator('[data-upload=failed]').getByText('Only JPEG, PNG, PDF, JSON and MP4').waitFor();

  const row = page.getByRole('row', { name: /passport\.png/ });
  await row.locator('[data-state=storing]').waitFor();
  await app.fileProcessing.drain();
  await row.locator('[data-state=completed]').waitFor();
  await row.getByText(createHash('sha256').update(content).digest('hex').slice(0, 8)).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'passport.png');
});

test('three files are uploaded at once, the others wait; each can be cancelled before its bytes are sent', async () => {
  const { page, panel } = await openUploads();
  /** Records that were asked for and are not answered yet. */
  const asked: (() => Promise<void>)[] = [];
  const puts: string[] = [];
  await page.route('**/api/files', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    asked.push(() => route.continue());
  });
  page.on('request', (request) => {
    if (request.method() === 'PUT') puts.push(request.url());
  });
  await panel
    .locator('input[type=file]')
    .setInputFiles(
      [1, 2, 3, 4, 5].map((each) => ({ name: `${each}.png`, mimeType: 'image/png', buffer: PNG })),
    );
  const inState = (state: string) => panel.locator(`[data-upload=${state}]`);
  await inState('uploading').nth(2).waitFor();
  assert.equal(await inState('waiting').getByText('Waits for its turn').count(), 2);
  await until(() => asked.length === 3, 'three records that are asked for');
  await menuOf(page).getByRole('link', { name: 'Team', exact: true }).click();
  await page.getByText('Files are still being uploaded').waitFor();

  await panel.getByRole('button', { name: 'Cancel 1.png' }).click();
  await panel.getByRole('button', { name: 'Cancel 4.png' }).click();
  await inState('cancelled').nth(1).waitFor();
  assert.equal(await inState('waiting').count(), 1);
  for (const answer of asked.splice(0)) await answer();
  await inState('uploading').getByText('5.png').waitFor();
  await until(() => asked.length === 1, 'the record of the last one');
  await asked[0]?.();
  await inState('done').nth(2).waitFor();
  assert.equal(puts.length, 3, 'nothing was sent of those that were cancelled');
  assert.equal(await inState('cancelled').count(), 2);
});
