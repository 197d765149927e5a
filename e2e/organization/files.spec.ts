import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { PNG } from '../../testing/objects/files.ts';
import { until } from '../../testing/webhooks/webhooks.ts';
import { navigationOf, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

/** Opens the files page with a customer and a type selected. */
async function openUploads() {
  const tenant = await createTenant(app);
  await createCustomer(app, tenant.bankGuid);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/files');
  await page.getByText('Select a customer and a type first').waitFor();
  const panel = page.getByRole('region', { name: 'Upload' });
  await panel.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option').first().click();
  await panel.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'Passport', exact: true }).click();
  return { page, panel };
}

test('an upload shows its progress and the file can be downloaded after processing', async () => {
  const { page, panel } = await openUploads();

  // Slow enough to observe the progress: 16 seconds, unless the limit is lifted.
  const network = await page.context().newCDPSession(page);
  const limitUpload = (bytesPerSecond: number) =>
    network.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond },
    });
  await limitUpload(64 * 1024);
  const content = Buffer.concat([PNG, Buffer.alloc(1024 * 1024 - PNG.length, 1)]);
  await panel.locator('input[type=file]').setInputFiles([
    { name: 'passport.png', mimeType: 'image/png', buffer: content },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') },
  ]);
  await page.getByText(/^[1-9]\d?% of 1\.0 MB$/).waitFor();
  await limitUpload(-1);
  await panel.locator('[data-upload=storing]').locator('[data-state=storing]').waitFor();
  await page.locator('[data-upload=failed]').getByText('Must be JPEG, PNG, PDF, JSON or MP4').waitFor();

  const row = page.getByRole('row', { name: /passport\.png/ });
  await row.locator('[data-state=storing]').waitFor();
  await app.fileProcessing.drain();
  await poll(page);
  await row.locator('[data-state=completed]').waitFor();
  await panel.locator('[data-upload=completed] [data-state=completed]').waitFor();
  await row.getByText(createHash('sha256').update(content).digest('hex').slice(0, 8)).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'passport.png');

  await row.getByRole('button', { name: 'Delete' }).click();
  const json = { total: 0, page: 1, per_page: 50, objects: [] };
  await page.route('**/api/files?*', (route) => route.fulfill({ json }));
  await poll(page);
  await row.waitFor({ state: 'detached' });
  await page.getByRole('dialog', { name: 'Delete passport.png' }).waitFor();
});

test('three files upload at a time, and waiting uploads can be cancelled', async () => {
  const { page, panel } = await openUploads();
  /** Delayed requests for file records. */
  const requests: (() => Promise<void>)[] = [];
  const puts: string[] = [];
  await page.route('**/api/files', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    requests.push(() => route.continue());
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
  assert.equal(await inState('waiting').getByText('Waiting').count(), 2);
  await until(() => requests.length === 3, 'three requests for file records');
  await navigationOf(page).getByRole('link', { name: 'Team', exact: true }).click();
  await page.getByText('Uploads are still running').waitFor();

  await panel.getByRole('button', { name: 'Cancel 1.png' }).click();
  await panel.getByRole('button', { name: 'Cancel 4.png' }).click();
  await inState('cancelled').nth(1).waitFor();
  assert.equal(await inState('waiting').count(), 1);
  for (const respond of requests.splice(0)) await respond();
  await inState('uploading').getByText('5.png').waitFor();
  await until(() => requests.length === 1, 'the request of the last file');
  await requests[0]?.();
  await inState('storing').nth(2).waitFor();
  assert.equal(puts.length, 3, 'cancelled files are not sent');
  assert.equal(await inState('cancelled').count(), 2);
});
