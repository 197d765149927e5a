import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { SIMULATOR_DELAY_MS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

test('a customer is created with name parts, address and labels, and changed', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/sandbox?kind=customers');
  const dialog = page.getByRole('dialog');
  const fill = async (values: Record<string, string>) => {
    for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label).fill(value);
  };
  await page.getByRole('button', { name: 'Create customer' }).first().click();
  await fill({ 'First name': 'Ada', Street: '12 St James Square', City: 'London' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  assert.equal(await dialog.getByText('Required', { exact: true }).count(), 2);
  await assertAccessible(page, 'create customer');
  await fill({ 'Last name': 'Lovelace', 'Country code': 'GB', Email: 'ada@example.com' });
  await dialog.getByRole('combobox', { name: 'Labels' }).fill('vip');
  await dialog.getByRole('button', { name: 'Create' }).click();

  const row = page.getByRole('row', { name: /individual · Ada Lovelace vip/ });
  await row.getByRole('button', { name: 'Edit' }).click();
  await dialog.waitFor();
  await assertAccessible(page, 'edit customer');
  assert.equal(await dialog.getByLabel('Street').inputValue(), '12 St James Square');
  await fill({ Street: '', City: '', 'Country code': '', 'Middle name': 'King', Phone: '+14155550100' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });

  const changed = page.getByRole('row', { name: /individual · Ada King Lovelace vip/ });
  await changed.getByRole('button', { name: 'Edit' }).click();
  const filled = (label: string) => dialog.getByLabel(label).inputValue();
  assert.deepEqual(
    [await filled('Email'), await filled('Phone'), await filled('Street'), await filled('City')],
    ['ada@example.com', '+14155550100', '', ''],
  );
});

test('the labels of an account are changed', async () => {
  const tenant = await createTenant(app);
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const details = { type: 'fiat', asset: 'USD', name: 'Cash' };
  await reportObject(app, 'account', { ...tenant, customerGuid }, { details, labels: ['old'] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/sandbox?kind=accounts');
  const dialog = page.getByRole('dialog');
  const row = page.getByRole('row', { name: /Cash old/ });
  await row.getByRole('button', { name: 'Edit' }).click();
  // Newer accounts push it off the page.
  const json = { total: 0, page: 1, per_page: 50, objects: [] };
  await page.route('**/api/accounts?*', (route) => route.fulfill({ json }));
  await poll(page);
  // The rows behind the dialog have no role.
  await page.getByText('No accounts of Bank yet').waitFor();
  await page.unroute('**/api/accounts?*');
  const labels = dialog.getByRole('combobox', { name: 'Labels' });
  await labels.press('Backspace');
  await labels.fill('treasury');
  await labels.press('Enter');
  await assertAccessible(page, 'edit account');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Cash treasury/ }).waitFor();
});

test('a workflow gets its token, and an update needs an external bank account', async () => {
  const tenant = await createTenant(app);
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const details = { name: 'Checking', asset: 'USD' };
  await reportObject(app, 'external_bank_account', { ...tenant, customerGuid }, { details });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/sandbox?kind=workflows');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create workflow' }).first().click();
  const account = dialog.getByRole('combobox', { name: 'External bank account' });
  assert.equal(await account.count(), 0);
  await dialog.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: 'link_token_update' }).click();
  await assertAccessible(page, 'create workflow');
  await account.click();
  await page.getByRole('option', { name: /Checking/ }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page
    .getByRole('row', { name: /plaid · link token update/ })
    .locator('[data-state=storing]')
    .waitFor();
  app.clock.advance(SIMULATOR_DELAY_MS);
  await app.simulator.drain();
  await poll(page);
  await page.getByRole('row', { name: /plaid · link token update · link-sandbox-/ }).waitFor();
});
