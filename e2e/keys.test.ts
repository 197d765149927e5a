import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, tokenOf } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { ADDRESS, createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

test('a bank key is generated with its list, its secret shown once, and works', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments backend');

  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('A new key needs at least one address').waitFor();
  const address = dialog.getByLabel('Allowed address 1');
  await address.fill('10.1.2.3');
  await dialog.getByText('"10.1.2.3" is private (RFC 1918)').waitFor();
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('Mend the entry that is marked').waitFor();
  await address.fill('');
  await dialog.getByRole('button', { name: 'Use my current address' }).click();
  await dialog.getByRole('button', { name: 'Generate' }).click();

  const secret = String(await dialog.locator('[data-secret=client_secret]').textContent());
  const clientId = String(await dialog.locator('[data-secret=client_id]').textContent());
  assert.match(secret, /^portico_sk_/);
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'a stray key does not lose the secret');
  assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled());
  await dialog.getByLabel('I have stored it safely').check();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const row = page.getByRole('row', { name: /Payments backend/ });
  await row.getByText(ADDRESS).waitFor();
  assert.ok(!(await page.content()).includes(secret), 'nothing of the page holds the secret any more');
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]),
  );
  assert.ok(!kept.includes(secret));
  assert.ok(await tokenOf(app, { clientId, secret }, 'customers:read'));
});

test('an edit is saved, and a removal needs the name to be typed', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Reporting');
  await dialog.getByText('Read only').click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Reporting/ }).waitFor();

  await page.getByRole('button', { name: 'Actions for Reporting' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  const remove = dialog.getByRole('button', { name: 'Remove the key' });
  await dialog.getByRole('textbox').fill('reporting');
  assert.ok(await remove.isDisabled());
  await dialog.getByRole('textbox').fill('Reporting');
  await remove.click();
  await page.getByText('No organization key yet').waitFor();
});

test('the secret of a rotation outlives a stray key and a refresh of the banks that fails', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  const secret = dialog.locator('[data-secret=client_secret]');
  await secret.waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await secret.isVisible());

  await page.route('**/api/banks?*', (route) => route.fulfill({ status: 422, json: { message: 'Not now' } }));
  await page.clock.setFixedTime(Date.now() + 90_000);
  const refused = page.waitForResponse((response) => response.status() === 422);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await refused;
  await dialog.getByLabel('I have stored it safely').check();
  await dialog.getByRole('button', { name: 'Next: deploy it' }).click();
  await dialog.getByText('Not used so far').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
});

test('the wizard makes a sandbox bank for who has a production bank only, and goes on with that', async () => {
  const tenant = await createTenant(app, { environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/onboarding');
  await page.getByLabel('Name of the bank').fill('Trial Bank');
  assert.ok(
    await page.getByRole('button', { name: 'Continue' }).isDisabled(),
    'not with the production bank',
  );
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Continue with Trial Bank' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const { body } = await app.operate('GET', `/organizations/${tenant.organizationGuid}/banks`);
  const banks = body.objects as { guid: string; environment: string }[];
  const chosen = new URL(page.url()).searchParams.get('bank');
  assert.equal(banks.find(({ guid }) => guid === chosen)?.environment, 'sandbox');
});
