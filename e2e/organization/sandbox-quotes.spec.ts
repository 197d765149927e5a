import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { SIMULATOR_DELAY_MS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

/** States after the first one, until a trade or transfer is completed. */
const STEPS = 4;
const QUOTE_LIFETIME_MS = 30_000;
/** The clock of the page goes on by itself. It starts this much late, so that no quote expires before it is used. */
const LATE_MS = 10 * 60_000;

async function openQuotes(): Promise<Page> {
  const tenant = await createTenant(app);
  const customerGuid = await createCustomer(app, tenant.bankGuid, { type: 'individual', name: 'Lin' });
  const owner = { ...tenant, customerGuid };
  for (const details of [
    { type: 'fiat', asset: 'USD', name: 'Cash', balance: 500_000 },
    { type: 'trading', asset: 'BTC', name: 'Coins', balance: 0 },
  ])
    await reportObject(app, 'account', owner, { details });
  const page = await pages.open();
  await page.clock.setSystemTime(app.clock.now().getTime() - LATE_MS);
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/sandbox?kind=quotes');
  return page;
}

async function createQuote(page: Page, product?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create quote' }).first().click();
  if (product !== undefined) {
    await dialog.getByRole('combobox', { name: 'Product' }).click();
    await page.getByRole('option', { name: product, exact: true }).click();
  }
  await dialog.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option', { name: 'Lin' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
}

async function complete(page: Page): Promise<void> {
  for (let step = 0; step < STEPS; step += 1) {
    app.clock.advance(SIMULATOR_DELAY_MS);
    await app.simulator.drain();
  }
  await poll(page);
}

test('a trade uses a quote, which stays used after a reload', async () => {
  const page = await openQuotes();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create quote' }).first().click();
  await dialog.getByText(/^1 BTC: buy at \$[\d,]+\.\d\d, sell at \$[\d,]+\.\d\d$/).waitFor();
  await dialog.getByText('In the smallest unit, equals $1,000.00').waitFor();
  await assertAccessible(page, 'create quote');
  await dialog.getByLabel('Amount to receive').fill('1000');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Enter this or the alternative, not both').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await createQuote(page);
  const row = page.getByRole('row', {
    name: /trading · buy · BTC-USD · deliver \$1,000\.00 · receive 0\.\d+ BTC · fee \$5\.00/,
  });
  await row.locator('[data-state=open]').waitFor();
  await row.getByRole('button', { name: 'Trade' }).click();
  await row.locator('[data-state=used]').waitFor();
  await page.reload();
  await row.locator('[data-state=used]').waitFor();
  assert.equal(await row.getByRole('button', { name: 'Trade' }).count(), 0);

  await complete(page);
  await navigate(page, '/sandbox?kind=accounts');
  await page.getByRole('row', { name: /Cash · \$4,000\.00/ }).waitFor();
  await page.getByRole('row', { name: /Coins · 0\.\d+ BTC/ }).waitFor();
});

test('a transfer on a quote names the accounts whose balances change', async () => {
  const page = await openQuotes();
  const dialog = page.getByRole('dialog');
  await createQuote(page, 'funding');
  const row = page.getByRole('row', {
    name: /funding · deposit · USD · deliver \$1,000\.00 · receive \$999\.00/,
  });
  await row.getByRole('button', { name: 'Transfer' }).click();
  await dialog.waitFor();
  await assertAccessible(page, 'transfer on a quote');
  await dialog.getByRole('combobox', { name: 'To account' }).click();
  assert.equal(await page.getByRole('option', { name: /Coins/ }).count(), 0);
  await page.getByRole('option', { name: /Cash/ }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await row.locator('[data-state=used]').waitFor();
  await complete(page);
  await navigate(page, '/sandbox?kind=accounts');
  await page.getByRole('row', { name: /Cash · \$5,999\.00/ }).waitFor();
});

test('an expired quote cannot be used', async () => {
  const page = await openQuotes();
  await createQuote(page);
  const row = page.getByRole('row', { name: /BTC-USD/ });
  await row.getByRole('button', { name: 'Trade' }).waitFor();
  await poll(page, LATE_MS + QUOTE_LIFETIME_MS);
  await row.locator('[data-state=expired]').waitFor();
  assert.equal(await row.getByRole('button', { name: 'Trade' }).count(), 0);
});
