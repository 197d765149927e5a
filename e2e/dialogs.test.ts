import { test } from 'node:test';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { assertAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

/** Dialogs beyond their first look: with what is refused, chosen, shown once and about to be given up. */
const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();
const { url } = await createTestEndpoint();

test('no step of a dialog has a serious violation, and each fits a phone', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url, name: 'Ledger' });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const dialog = page.getByRole('dialog');
  const press = (name: string) => dialog.getByRole('button', { name }).click();
  const open = async (path: string, name: string) => {
    await page.goto(path);
    await page.getByRole('button', { name }).first().click();
  };

  await open('/keys', 'Actions for Key');
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await press('Generate the new pair');
  await dialog.getByText('A new key needs at least one address').waitFor();
  await dialog.getByLabel('Allowed address 1').fill('10.1.2.3');
  await dialog.getByText('is private').waitFor();
  await assertAccessible(page, 'a refused address');
  await dialog.getByText('Choose', { exact: true }).click();
  await assertAccessible(page, 'the choice of scopes');
  await dialog.getByLabel('Allowed address 1').fill('198.35.26.96');
  await press('Generate the new pair');
  await dialog.locator('[data-secret=client_secret]').waitFor();
  await assertAccessible(page, 'a secret');
  await takeSecret(dialog, 'client_secret', 'Next: deploy it');
  await dialog.getByText('Not used so far').waitFor();
  await assertAccessible(page, 'a pair that is not used');
  await press('It works, go on');
  await dialog.getByRole('button', { name: 'Remove the old pair' }).waitFor();
  await assertAccessible(page, 'the end of a rotation');

  await open(`/subscriptions/${guid}`, 'Delete');
  await dialog.getByRole('textbox').fill('Ledger');
  await assertAccessible(page, 'a removal that is confirmed');
  await open('/events', 'Recover');
  await dialog.getByLabel('Failed since').fill('2099-01-01T00:00');
  await dialog.getByText('Choose a moment that has passed').waitFor();
  await assertAccessible(page, 'a recovery of what is to come');
  await open(`/subscriptions/${guid}`, 'Roll signing key');
  await press('Create the new one');
  await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
  await app.dispatcher.drain();
  await dialog.getByText('The new subscription is active').waitFor();
  await assertAccessible(page, 'a key that works');
});
