import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS } from '../../dashboard/pages/sandbox/object-kinds.ts';
import { issueToken } from '../../testing/api/api-callers.ts';
import { createTenant, userToken } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { createFile, inline, PDF, PNG } from '../../testing/objects/files.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { SIMULATOR_DELAY_MS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

/** Two pages with a line of text each. */
const DOCUMENT = Buffer.from(`%PDF-1.7
1 0 obj << /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 420 240]
  /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R >> endobj
5 0 obj << /Length 47 >> stream
BT /F1 24 Tf 60 120 Td (Electricity, March) Tj ET
endstream endobj
trailer << /Root 1 0 R >>
%%EOF
`);

test('a customer is created where a file needs one, and files are previewed, deleted or kept in use', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/files');
  const panel = page.getByRole('region', { name: 'Upload' });
  await panel.getByRole('button', { name: 'New customer' }).click();
  await panel.getByLabel('Customer name').fill('Ada Lovelace');
  await assertAccessible(page, 'a new customer within a form');
  await panel.getByLabel('Customer name').press('Enter');
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('input[placeholder="Select a customer"]')?.value,
  );
  await panel.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: "Driver's license, front" }).click();
  await panel
    .locator('input[type=file]')
    .setInputFiles({ name: 'license.png', mimeType: 'image/png', buffer: PNG });
  await panel.locator('[data-upload=storing]').waitFor();

  const customers = await app.call({
    url: '/api/customers',
    token: await userToken(app, tenant.organizationGuid),
  });
  const [{ guid: customerGuid }] = customers.body.objects as [{ guid: string }];
  const token = await issueToken(app, { ...tenant, customerGuid }, 'organization');
  const owner = { token, customerGuid };
  const bill = { content_type: 'application/pdf', type: 'utility_bill' };
  const { guid } = await createFile(app, owner, { ...bill, filename: 'bill.pdf', ...inline(DOCUMENT) });
  await createFile(app, owner, { ...bill, filename: 'empty.pdf', ...inline(PDF) });
  await app.fileProcessing.drain();
  await poll(page);
  const row = page.getByRole('row', { name: /license\.png/ });
  await row.getByText("Driver's license, front").waitFor();
  await row.locator('[data-state=completed]').waitFor();
  await row.getByRole('link', { name: 'Ada Lovelace' }).waitFor();

  const dialog = page.getByRole('dialog');
  await row.getByRole('button', { name: 'Preview license.png' }).click();
  const image = dialog.getByRole('img', { name: 'Content of license.png' });
  await image.waitFor();
  await page.waitForFunction(
    () => document.querySelector<HTMLImageElement>('[role=dialog] img')?.naturalWidth,
  );
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Preview bill.pdf' }).click();
  await dialog.getByRole('img', { name: 'Page 2 of 2' }).and(dialog.locator('[data-drawn]')).waitFor();
  await assertAccessible(page, 'the preview of a PDF');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Preview empty.pdf' }).click();
  await dialog.getByText('This PDF cannot be shown').waitFor();
  await page.keyboard.press('Escape');
  const downloads = await app.database.queries
    .selectFrom('audit_records')
    .select('object_id')
    .where('organization_guid', '=', tenant.organizationGuid)
    .where('action', '=', 'file.download')
    .execute();
  assert.equal(downloads.length, 3, 'each preview is recorded once');

  const payload = { type: 'kyc', method: 'attested', customer_guid: customerGuid, file_guids: [guid] };
  const verification = { ...payload, bank_guid: tenant.bankGuid };
  const url = '/api/identity_verifications';
  assert.equal((await app.call({ method: 'POST', url, token, payload: verification })).status, 201);
  await page.getByRole('button', { name: 'Delete bill.pdf' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('An identity verification refers to this file').waitFor();
  await assertAccessible(page, 'the deletion of a file in use');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await row.getByRole('button', { name: 'Delete license.png' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
});

test('an object has a page with its states, its events and its JSON', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/sandbox');
  await page.getByRole('button', { name: 'Create transfer' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'New customer' }).click();
  await dialog.getByLabel('Customer name').fill('Grace Hopper');
  await dialog.getByRole('button', { name: 'Create customer' }).click();
  await dialog.getByLabel('Customer name').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page
    .getByRole('row', { name: /funding · \$10\.00/ })
    .getByRole('link')
    .first()
    .click();
  await page.getByRole('heading', { name: 'Transfer', level: 1 }).waitFor();
  const history = page.getByRole('region', { name: 'History' });
  for (const state of ['storing', 'reviewing', 'completed']) {
    await poll(page);
    await history.getByRole('link', { name: `transfer.${state}` }).waitFor();
    app.clock.advance(SIMULATOR_DELAY_MS);
    await app.simulator.drain();
  }
  await page.getByText('"transfer_type": "funding"').waitFor();
  await assertAccessible(page, 'the page of an object');
  await history.getByRole('link', { name: 'transfer.completed' }).click();
  await page.getByRole('heading', { name: 'transfer.completed' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByRole('heading', { name: 'Customer', level: 1 }).waitFor();
  await history.getByText('Objects of this type have no events.').waitFor();
});

test('every object type has its page', async () => {
  const tenant = await createTenant(app);
  const owner = { ...tenant, customerGuid: await createCustomer(app, tenant.bankGuid) };
  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  await page.goto('/sandbox');
  for (const { path, label } of KINDS) {
    const type = label.toLowerCase().replaceAll(' ', '_');
    const guid = type === 'customer' ? owner.customerGuid : await reportObject(app, type, owner);
    await navigate(page, `/sandbox/${path}/${guid}`);
    await page.getByRole('heading', { name: label, level: 1 }).waitFor();
    await page.getByText(`"guid": "${guid}"`).waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('Created').waitFor();
  }
});

test('the reference lists the event types and leads back to the dashboard', async () => {
  const page = await pages.open();
  await page.goto('/docs/#tag/event-types');
  await page.getByText('transfer.completed').first().waitFor();
  assert.equal(await page.getByText('/operator/organizations').count(), 0);
  await page.getByRole('link', { name: 'Dashboard' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});
