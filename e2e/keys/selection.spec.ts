import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKey, createTenant } from '../../testing/app/tenant.ts';
import { addBank, fillKeyForm, openKeyDialog, selectBank } from '../support/keys.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { poll, returnToTab } from '../support/pages.ts';
import { enterAs, joinOrganization } from '../support/people.ts';
import { ADDRESS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

/** More than one page. */
const MANY_KEYS = 51;

test('selecting a bank in another tab does not change this tab or its secret', async () => {
  const tenant = await createTenant(app);
  await addBank(tenant, 'Real money', 'production');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await fillKeyForm(page, 'bank', 'Payments backend');
  const dialog = page.getByRole('dialog', { name: 'Generate bank key for Bank' });

  const other = await page.context().newPage();
  await other.goto('/keys');
  await selectBank(other, 'Real money');
  await other.getByRole('button', { name: 'Bank: Real money' }).waitFor();
  await dialog.getByRole('button', { name: 'Generate' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key pair' });
  assert.match(await takeSecret(shown, 'client_secret', 'Done'), /^portico_sk_/);
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
  await page.getByRole('row', { name: /Payments backend/ }).waitFor();
});

test('switching the Organization in another tab does not change this tab or its secret', async () => {
  const page = await pages.open();
  const person = await enterAs(page, site, await createTenant(app), 'founder');
  const { body: globex } = await app.operate('POST', '/organizations', { name: 'Globex', features: [] });
  await joinOrganization(page, site, person, String(globex.guid));

  const dialog = await fillKeyForm(page, 'organization', 'Reporting');
  const here = page.locator('[aria-label^="Organization:"]');
  const name = String(await here.getAttribute('aria-label'));

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

test('a new first bank in the list does not change the selection', async () => {
  const tenant = await createTenant(app, { environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
  await addBank(tenant, 'Play money', 'sandbox');
  await returnToTab(page);
  await page.getByRole('button', { name: 'Bank: Bank' }).click();
  await page.getByRole('option', { name: 'Play money' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Bank: Bank' }).count(), 1);
});

test('the rotation dialog stays open when its row leaves the page', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const dialog = await openKeyDialog(page, 'organization', 'Rotate');
  const path = `/organizations/${tenant.organizationGuid}/applications`;
  for (let index = 0; index < MANY_KEYS; index++)
    await createKey(app, path, { name: `Newer ${index}`, ip_allowlist: [] });
  await dialog.getByLabel('Name').fill('Next');
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  await page.getByText('Newer 20', { exact: true }).waitFor();
  assert.equal(await page.getByText('Newer 0', { exact: true }).count(), 0);
  assert.match(await takeSecret(dialog, 'client_secret', 'Next: deploy'), /^portico_sk_/);
});

test('a new signing key stays visible when the old subscription is deleted', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/subscriptions');
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Orders');
  await dialog.getByLabel('URL').fill('https://example.com/hooks');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await takeSecret(dialog, 'signing_key', 'Done');
  await page.getByRole('button', { name: 'Roll signing key' }).click();
  await dialog.getByRole('button', { name: 'Create new key' }).click();
  await dialog.locator('[data-secret=signing_key]').waitFor();
  const guid = new URL(page.url()).pathname.split('/').at(-1);
  const json = { error: 'not_found', message_code: 'not_found', message: 'Deleted' };
  await page.route(`**/api/subscriptions/${guid}`, (route) => route.fulfill({ status: 404, json }));
  const deleted = page.waitForResponse(
    (response) => response.url().endsWith(`/${guid}`) && response.status() === 404,
  );
  await poll(page);
  await deleted;
  await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
});
