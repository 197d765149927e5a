import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createKey, createTenant, type Tenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { allowCurrentAddress, generateInWizard, takeSecret } from './support/secrets.ts';
import { ADDRESS, createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
/** Longer than the page takes its banks for granted. */
const STALE_MS = 90_000;
/** More than a page of keys shows. */
const MANY_KEYS = 21;

async function addBank({ organizationGuid }: Tenant, name: string, environment: string): Promise<string> {
  const path = `/organizations/${organizationGuid}/banks`;
  const { status, body } = await app.operate('POST', path, { name, environment });
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.guid);
}

async function chooseBank(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Bank:/ }).click();
  await page.getByRole('option', { name }).click();
}

test('a bank that is chosen in another tab moves no tab that is open, nor the secret in it', async () => {
  const tenant = await createTenant(app);
  await addBank(tenant, 'Real money', 'production');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Generate a key of Bank' });
  await dialog.getByLabel('Name').fill('Payments backend');
  await allowCurrentAddress(page);

  const other = await page.context().newPage();
  await other.goto('/keys');
  await chooseBank(other, 'Real money');
  await other.getByRole('button', { name: 'Bank: Real money' }).waitFor();
  await dialog.getByRole('button', { name: 'Generate' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key pair' });
  assert.match(await takeSecret(shown, 'client_secret', 'Done'), /^portico_sk_/);
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
  await page.getByRole('row', { name: /Payments backend/ }).waitFor();
});

test('an Organization that is chosen in another tab moves no tab that is open, nor the secret in it', async () => {
  const page = await pages.open();
  const person = await enterAs(page, site, await createTenant(app), 'founder');
  const { body: globex } = await app.operate('POST', '/organizations', { name: 'Globex', features: [] });
  const path = `/organizations/${globex.guid}/members`;
  const { body: invited } = await app.operate('POST', path, { email: person.email, role: 'founder' });
  await page.goto(String(invited.invitation_link));
  await page.getByRole('button', { name: /join/i }).click();
  await menuOf(page).waitFor();

  await page.goto('/keys?kind=organization');
  const here = page.getByRole('button', { name: /^Organization:/ });
  const name = String(await here.getAttribute('aria-label'));
  await page.getByRole('button', { name: 'Generate organization key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Reporting');
  await allowCurrentAddress(page);

  const other = await page.context().newPage();
  await other.goto('/keys');
  await other.getByRole('button', { name }).click();
  await other.getByRole('menuitem', { name: name.endsWith('Acme') ? 'Globex' : 'Acme' }).click();
  await other.getByRole('button', { name }).waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Generate', exact: true }).click();
  assert.match(await takeSecret(dialog, 'client_secret', 'Done'), /^portico_sk_/);
  await page.getByRole('row', { name: /Reporting/ }).waitFor();
  assert.equal(await here.getAttribute('aria-label'), name);
});

test('a bank that is chosen while a secret is shown is not taken, not remembered, and the page says why', async () => {
  const tenant = await createTenant(app);
  await addBank(tenant, 'Real money', 'production');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await generateInWizard(page);
  await chooseBank(page, 'Real money');
  await page.getByText('What you see here is shown only once').waitFor();
  assert.match(await takeSecret(page, 'client_secret', 'Continue'), /^portico_sk_/);
  await page.reload();
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
});

test('a list of banks that begins with another one moves nobody', async () => {
  const tenant = await createTenant(app, { environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
  await addBank(tenant, 'Play money', 'sandbox');
  await page.clock.setFixedTime(Date.now() + STALE_MS);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByRole('button', { name: 'Bank: Bank' }).click();
  await page.getByRole('option', { name: 'Play money' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Bank: Bank' }).count(), 1);
});

test('no step of the wizard leads away from a secret that it shows', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await generateInWizard(page);
  await page.getByRole('button', { name: /Sandbox bank/ }).click();
  assert.match(await takeSecret(page, 'client_secret', 'Continue'), /^portico_sk_/);
});

test('a rotation outlives the row that it was begun in', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate Key' });
  const path = `/organizations/${tenant.organizationGuid}/applications`;
  for (let made = 0; made < MANY_KEYS; made++)
    await createKey(app, path, { name: `Newer ${made}`, ip_allowlist: [] });
  await dialog.getByLabel('Name').fill('Next');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  await page.getByText('Newer 20', { exact: true }).waitFor();
  assert.equal(await page.getByText('Newer 0', { exact: true }).count(), 0);
  assert.match(await takeSecret(dialog, 'client_secret', 'Next: deploy it'), /^portico_sk_/);
});

test('a signing key outlives the subscription that it takes the place of', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/subscriptions');
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Orders');
  await dialog.getByLabel('URL').fill('https://example.com/hooks');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await takeSecret(dialog, 'signing_key', 'Done');
  await page.getByRole('button', { name: 'Roll signing key' }).click();
  await dialog.getByRole('button', { name: 'Create the new one' }).click();
  await dialog.locator('[data-secret=signing_key]').waitFor();
  const guid = new URL(page.url()).pathname.split('/').at(-1);
  const json = { error: 'not_found', message_code: 'not_found', message: 'It is gone' };
  await page.route(`**/api/subscriptions/${guid}`, (route) => route.fulfill({ status: 404, json }));
  await page.waitForResponse((response) => response.url().endsWith(`/${guid}`) && response.status() === 404);
  await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
});
