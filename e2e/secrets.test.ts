import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs, logOut } from './support/people.ts';
import { allowCurrentAddress, generateInWizard, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
/** Longer than the page takes what it knows of the session for granted. */
const STALE_MS = 90_000;

test('a session that ends while a secret is shown leaves it there until it is stored', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments backend');
  await allowCurrentAddress(page);
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.locator('[data-secret=client_secret]').waitFor();

  await page.context().clearCookies();
  await page.clock.setFixedTime(Date.now() + STALE_MS);
  const ended = page.waitForResponse((response) => response.url().endsWith('/dashboard/session'));
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  assert.equal((await ended).status(), 401);
  assert.match(await takeSecret(dialog, 'client_secret', 'Done'), /^portico_sk_/);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(await page.locator('[data-secret]').count(), 0);
});

test('a secret is downloaded as it is shown', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await generateInWizard(page);
  const clientId = String(await page.locator('[data-secret=client_id]').textContent());
  const begun = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const download = await begun;
  assert.equal(download.suggestedFilename(), `portico-key-${clientId}.json`);
  const content = JSON.parse(await readFile(await download.path(), 'utf8')) as object;
  const secret = await takeSecret(page, 'client_secret', 'Continue');
  assert.deepEqual(content, { client_id: clientId, client_secret: secret });
});

test('whoever logs out leaves no secret on the screen', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await generateInWizard(page);
  await logOut(page);
  assert.equal(await page.locator('[data-secret]').count(), 0);
});
