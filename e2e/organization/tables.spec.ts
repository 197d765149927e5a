import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { watchForText } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 380, height: 800 };
const TOTAL = 130;
/** `bank.created` of the tenant, and a failed trade. */
const OLD = 2;
const GUID = /^[0-9a-f]{32}$/;

/** Two events that are two hours old, and the others. */
async function openEvents(): Promise<Page> {
  const tenant = await createTenant(app);
  await publishEvents(app, tenant, [{ event_type: 'trade.failed' }]);
  app.clock.advance(2 * 3_600_000);
  await publishEvents(app, tenant, TOTAL - OLD);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/events');
  await rowCount(page, 50);
  return page;
}

/** Waits until the table has this many rows below its header. */
async function rowCount(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (wanted) => document.querySelectorAll('table[aria-label=Events] tbody tr').length === wanted,
    count,
  );
}

async function select(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

async function download(page: Page, format: 'CSV' | 'JSON') {
  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: format }).click(),
  ]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

test('a table has older and newer pages, a page size and a form of time', async () => {
  const page = await openEvents();
  const turn = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const first = String(await page.getByRole('cell').getByTitle(GUID).first().getAttribute('title'));
  await turn('Older');
  await page.waitForURL(/after=/);
  // Until the next page is shown, the button turns to that page again.
  await page.getByTitle(first).waitFor({ state: 'detached' });
  await turn('Older');
  await rowCount(page, TOTAL - 100);
  await page.getByText(`${TOTAL} total`).waitFor();
  await page.reload();
  await turn('Newer');
  await rowCount(page, 50);
  await page.waitForURL(/after=/);
  await turn('Newer');
  await page.waitForURL((url) => !url.searchParams.has('after'));
  await page.getByRole('button', { name: 'Newer', disabled: true }).waitFor();

  await page.getByRole('button', { name: 'Display' }).click();
  await page.getByRole('menuitemradio', { name: '100' }).click();
  await rowCount(page, 100);
  await page.getByRole('menuitemradio', { name: 'UTC' }).click();
  await page.keyboard.press('Escape');
  const time = page.getByRole('cell').locator('time').first();
  await page.reload();
  await rowCount(page, 100);
  const at = String(await time.getAttribute('datetime'));
  assert.equal(await time.textContent(), `${at.slice(0, 19).replace('T', ' ')} UTC`);
  await time.focus();
  await page.getByRole('tooltip', { name: at }).waitFor();
});

test('a click while the next page loads does not turn it again', async () => {
  const page = await openEvents();
  const loaded = Promise.withResolvers<void>();
  await page.route(/api.*after=/, async (route) => {
    await loaded.promise;
    await route.continue();
  });
  const older = page.getByRole('button', { name: 'Older', exact: true });
  await older.click();
  await page.waitForURL(/after=/);
  await older.dispatchEvent('click');
  loaded.resolve();
  await page.getByRole('button', { name: 'Newer', exact: true }).click();
  await page.waitForURL((url) => !url.searchParams.has('after'));
});

test('filters by time are presets in the URL, can be saved, and collapse on a phone', async () => {
  const page = await openEvents();
  await select(page, 'Time', 'Last hour');
  await page.waitForURL(/time=1h/);
  await page.getByText(`${TOTAL - OLD} total`).waitFor();
  await select(page, 'Time', 'Custom');
  const from = page.getByLabel('From');
  assert.notEqual(await from.inputValue(), '');
  await from.focus();
  await page.keyboard.type('02032025');
  await page.waitForURL(/from=2025-02-03T/);
  assert.match(await from.inputValue(), /^2025-02-03T/);
  await from.fill('');
  await page
    .getByLabel('Until')
    .fill(new Date(app.clock.now().getTime() - 3_600_000).toISOString().slice(0, 16));
  await rowCount(page, OLD);

  await select(page, 'Time', 'Last 7 days');
  await select(page, 'Type', 'trade.failed');
  await rowCount(page, 1);
  const menu = page.getByRole('button', { name: 'Saved filters' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Save current filters…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Failed trades');
  await assertAccessible(page, 'save filters');
  const saved = await watchForText(page, 'Saved as Failed trades.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await saved();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rowCount(page, 50);
  await page.reload();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Failed trades' }).click();
  await rowCount(page, 1);
  assert.match(page.url(), /time=7d/);
  assert.match(page.url(), /type=trade\.failed/);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Manage…' }).click();
  await page.getByRole('button', { name: 'Delete Failed trades' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await menu.click();
  await page.getByText('No saved filters yet').waitFor();
  await page.keyboard.press('Escape');

  await page.setViewportSize(DESKTOP);
  assert.equal(await page.getByRole('button', { name: 'Filters (2)' }).count(), 0);
  const id = page.getByRole('cell').getByTitle(GUID);
  assert.equal(await id.first().evaluate((shown) => getComputedStyle(shown).fontSize), '13px');
  await page.setViewportSize(PHONE);
  const type = page.getByRole('combobox', { name: 'Type' });
  await type.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Filters (2)' }).click();
  await type.waitFor();
  await assertAccessible(page, 'events with filters on a phone');
});

test('an export has all rows that match the filters, shows its progress and can be cancelled', async () => {
  const page = await openEvents();
  // By the clock of the page, which goes on: it may be the next day already.
  const day = await page.evaluate(() => new Date().toISOString().slice(0, 10));
  const exported = await watchForText(page, `Exported ${TOTAL} rows.`);
  const json = await download(page, 'JSON');
  assert.equal(json.name, `portico-events-${day}.json`);
  assert.equal((JSON.parse(json.text) as object[]).length, TOTAL);
  await exported();

  await select(page, 'Type', 'trade.failed');
  await rowCount(page, 1);
  const csv = await download(page, 'CSV');
  assert.equal(csv.name, `portico-events-${day}.csv`);
  const [head = '', line = '', end] = csv.text.split('\r\n');
  assert.match(head, /^"guid",.*"event_type"/);
  assert.match(line, /"trade\.failed"/);
  assert.equal(end, '');

  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rowCount(page, 50);
  let holdsSecondPage = () => {};
  const held = new Promise<void>((resolve) => {
    holdsSecondPage = resolve;
  });
  await page.route(/subscription_events\?.*per_page=100.*after=/, () => holdsSecondPage());
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  await held;
  await page.getByText('Exporting… 100 rows').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Export' }).waitFor();
});
