import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCustomer } from '../testing/customers.ts';
import { createTenant } from '../testing/tenant.ts';
import { listOf, playAgreedApi } from './support/agreed-api.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { liveMessage, sampleGuid } from './support/samples.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

test('attempts are shown as they come, the stream is opened again when it ends, and a pause stops it', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  let streams = 0;
  await playAgreedApi(
    page,
    site,
    { tenant, role: 'viewer' },
    {
      'GET /api/subscription_deliveries/live': () => {
        streams += 1;
        const dropped = 'event: dropped\ndata: {"dropped": 7}\n\n';
        const body = `retry: 1000\n\n:\n\n${liveMessage(sampleGuid(1), streams === 1 ? 'failing' : 'completed')}${dropped}`;
        return { headers: { 'content-type': 'text/event-stream' }, body };
      },
    },
  );
  await page.goto('/live');
  await page.getByText('answered 500').waitFor();
  await page.locator('[data-state=completed]').first().waitFor();
  await page.getByText(/more were too quick to show/).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('files are dropped, go straight to the upload URL with their own type, and show how far they are', async () => {
  const tenant = await createTenant(app);
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const page = await pages.open();
  const uploaded: { type: string | undefined; size: number }[] = [];
  let asked: Record<string, unknown> = {};
  await playAgreedApi(
    page,
    site,
    { tenant, role: 'developer' },
    {
      'GET /api/files': () => listOf([]),
      'POST /api/files': ({ body }) => {
        asked = body;
        return {
          status: 201,
          body: { guid: sampleGuid(1), state: 'storing', upload_url: `${site.url}/uploads/1?sig=2` },
        };
      },
    },
  );
  await page.route(/\/uploads\//, async (route) => {
    const request = route.request();
    uploaded.push({ type: request.headers()['content-type'], size: request.postDataBuffer()?.length ?? 0 });
    await route.fulfill({ status: 200, json: { state: 'storing' } });
  });
  await page.goto('/files');
  await page.getByText('Choose the customer and the type first').waitFor();
  const panel = page.getByRole('region', { name: 'Upload' });
  await panel.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option').first().click();
  await panel.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'passport', exact: true }).click();
  await panel.locator('input[type=file]').setInputFiles([
    { name: 'passport.png', mimeType: 'image/png', buffer: Buffer.alloc(64 * 1024, 1) },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') },
  ]);
  await page.locator('[data-upload=done]').getByText('Uploaded, 64 KB').waitFor();
  await page.locator('[data-upload=failed]').getByText('Only JPEG, PNG, PDF, JSON and MP4').waitFor();
  assert.deepEqual(uploaded, [{ type: 'image/png', size: 64 * 1024 }]);
  assert.deepEqual(asked, {
    type: 'passport',
    customer_guid: customerGuid,
    filename: 'passport.png',
    content_type: 'image/png',
  });
});
