import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { poll, watchForText } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { SIMULATOR_DELAY_MS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

test('a created object reaches the selected outcome, and each step is an event', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  const dialog = page.getByRole('dialog');
  await page.goto('/sandbox?kind=customers');
  await page.getByRole('button', { name: 'Create customer' }).first().click();
  await dialog.getByLabel('Full name').fill('Lin');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('row', { name: /individual · Lin/ }).waitFor();

  const desktop = page.viewportSize() ?? assert.fail('The page has no size');
  await page.setViewportSize({ width: 380, height: 800 });
  await page.getByRole('combobox', { name: 'Object type' }).click();
  await page.getByRole('option', { name: 'Transfer', exact: true }).click();
  await page.setViewportSize(desktop);
  await page.getByRole('button', { name: 'Create transfer' }).first().click();
  await dialog.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option', { name: /Lin/ }).click();
  await dialog.getByRole('combobox', { name: 'Outcome' }).click();
  await page.getByRole('option', { name: 'failed' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row', { name: /funding · \$10\.00/ });
  for (const state of ['storing', 'reviewing', 'failed']) {
    await poll(page);
    await row.locator(`[data-state=${state}]`).waitFor();
    app.clock.advance(SIMULATOR_DELAY_MS);
    await app.simulator.drain();
  }
  await row.getByRole('link', { name: 'Events' }).click();
  for (const type of ['transfer.storing', 'transfer.reviewing', 'transfer.failed'])
    await page.getByRole('link', { name: type }).waitFor();
});

test('an external bank account is refreshed and deleted, and a deposit address gets its address', async () => {
  const tenant = await createTenant(app);
  const customerGuid = await createCustomer(app, tenant.bankGuid);
  const owner = { ...tenant, customerGuid };
  const details = { name: 'Checking', asset: 'USD' };
  await reportObject(app, 'external_bank_account', owner, { details });
  await reportObject(app, 'account', owner, { details: { type: 'trading', asset: 'BTC' } });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');

  await page.goto('/sandbox?kind=external_bank_accounts');
  const row = page.getByRole('row', { name: /Checking · USD/ });
  const act = async (action: string) => {
    await row.getByRole('button', { name: 'Actions for Checking' }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  for (const [action, first, last] of [
    ['Refresh', 'storing', 'completed'],
    ['Delete', 'deleting', 'deleted'],
  ] as const) {
    await act(action);
    await row.locator(`[data-state=${first}]`).waitFor();
    app.clock.advance(SIMULATOR_DELAY_MS);
    await app.simulator.drain();
    await poll(page);
    await row.locator(`[data-state=${last}]`).waitFor();
  }

  await page.goto('/sandbox?kind=deposit_addresses');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create deposit address' }).first().click();
  await dialog.getByRole('combobox', { name: 'Account' }).click();
  await page.getByRole('option', { name: /trading BTC/ }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const address = page.getByRole('row', { name: /BTC/ });
  await address.locator('[data-state=storing]').waitFor();
  app.clock.advance(SIMULATOR_DELAY_MS);
  await app.simulator.drain();
  await poll(page);
  await page.getByRole('row', { name: /BTC · tb1q/ }).waitFor();
});

test('saved filters contain the object type, also without another filter', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'developer');
  await page.goto('/sandbox?kind=trades');
  const create = (label: string) => page.getByRole('button', { name: `Create ${label}` }).first();
  await create('trade').waitFor();
  const menu = page.getByRole('button', { name: 'Saved filters' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Save current filters…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('My trades');
  const saved = await watchForText(page, 'Saved as My trades.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await saved();

  await page.goto('/sandbox?kind=transfers&time=1h');
  await create('transfer').waitFor();
  await menu.click();
  await page.getByRole('menuitem', { name: 'My trades' }).click();
  await create('trade').waitFor();
  assert.deepEqual([...new URL(page.url()).searchParams].toSorted(), [['kind', 'trades']]);
});
