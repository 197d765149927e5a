import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();
const { url } = await createTestEndpoint();

test('all steps of the rotation, deletion and redelivery dialogs are accessible', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url, name: 'Ledger' });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const dialog = page.getByRole('dialog');
  const press = (name: string) => dialog.getByRole('button', { name }).click();
  const open = async (path: string, name: string) => {
    await navigate(page, path);
    await page.getByRole('button', { name }).first().click();
  };

  await page.goto('/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await open('/keys', 'Actions for Key');
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await press('Generate new key');
  await dialog.getByText('Enter at least one address').waitFor();
  await dialog.getByLabel('Allowed address 1').fill('10.1.2.3');
  await dialog.getByText(/private/).waitFor();
  await assertAccessible(page, 'invalid address');
  await dialog.getByText('Custom', { exact: true }).click();
  await assertAccessible(page, 'scopes');
  await dialog.getByLabel('Allowed address 1').fill('198.35.26.96');
  await press('Generate new key');
  await dialog.locator('[data-secret=client_secret]').waitFor();
  await assertAccessible(page, 'secret');
  await takeSecret(dialog, 'client_secret', 'Next: deploy');
  await dialog.getByText('Waiting for the first use').waitFor();
  await assertAccessible(page, 'waiting for the first use');
  await press('Continue without waiting');
  await dialog.getByRole('button', { name: 'Delete old key' }).waitFor();
  await assertAccessible(page, 'last step of a rotation');

  await open(`/subscriptions/${guid}`, 'Delete');
  await dialog.getByRole('textbox').fill('Ledger');
  await assertAccessible(page, 'confirmed deletion');
  await open('/events', 'Redeliver events');
  await dialog.getByLabel('From').fill('2099-01-01T00:00');
  await dialog.getByText('From must be in the past').waitFor();
  await assertAccessible(page, 'redelivery with a future time');
  await open(`/subscriptions/${guid}`, 'Roll signing key');
  await press('Create new key');
  await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
  await app.dispatcher.drain();
  await poll(page);
  await dialog.getByText('The new subscription is active').waitFor();
  await assertAccessible(page, 'verified signing key');
});
