import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, type Tenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { navigationOf, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

async function publishAndDeliver(tenant: Tenant): Promise<void> {
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
}

test('a new subscription shows its signing key once and becomes active with the first 2xx', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/subscriptions');
  await page.getByText('No subscriptions in sandbox yet').waitFor();
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments backend');
  await dialog.getByLabel('URL').fill('ftp://nowhere');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(/^URL must/).waitFor();
  await dialog.getByLabel('URL').fill(`${receiver.url}/hook`);
  await dialog.getByRole('button', { name: 'Create' }).click();
  assert.match(await takeSecret(dialog, 'signing_key', 'Done'), /^[0-9a-f]{64}$/);
  await page.getByRole('heading', { name: 'Payments backend' }).waitFor();
  await app.dispatcher.drain();
  await receiver.waitForCount(1);
  await poll(page);
  await page.locator('[data-state=active]').first().waitFor();
});

test('an event shows its exact body and its attempts, and can be redelivered', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  await app.dispatcher.drain();
  receiver.behave({ kind: 'answer', status: 500, body: 'the ledger is closed' });
  await publishAndDeliver(tenant);
  const sent = receiver.received.at(-1)?.body.toString() ?? '';

  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/events');
  await page.getByRole('link', { name: 'transfer.completed' }).click();
  const shown = page.getByRole('region', { name: 'request body' });
  assert.equal((await shown.textContent())?.trim(), sent);
  await page
    .getByRole('row', { name: /Ledger/ })
    .getByText('HTTP 500')
    .waitFor();
  await page.getByRole('button', { name: 'Attempts' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('the ledger is closed').waitFor();
  await drawer.locator('[data-next-attempt]').waitFor();
  receiver.behave({ kind: 'answer', status: 204 });
  await drawer.getByRole('button', { name: 'Redeliver' }).click();
  await drawer.getByRole('status', { name: 'Redelivery' }).waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await app.dispatcher.drain();
  await poll(page);
  await page.locator('[data-state=completed]').first().waitFor();
});

test('deleting requires the name and shows a countdown; protected subscriptions cannot be deleted', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: receiver.url, name: 'Old hook' });
  const kept = await createSubscription(app, tenant, { url: receiver.url, name: 'Kept' });
  await app.operate('PATCH', `/subscriptions/${kept.guid}`, { protection_enabled: true });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');

  await page.goto(`/subscriptions/${kept.guid}`);
  await page.getByText('Protected. To delete it, contact').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);

  await page.goto(`/subscriptions/${guid}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('Old hook');
  await page.getByRole('button', { name: 'Delete in 24 hours' }).click();
  await page.getByText(/Deleted in 2[34] h/).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
});

test('the endpoint limit of both environments hides the create button', async () => {
  const tenant = await createTenant(app);
  for (const name of ['A', 'B', 'C', 'D']) await createSubscription(app, tenant, { name });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/subscriptions');
  const create = page.getByRole('button', { name: 'Create Webhook Subscription' });
  await page.getByRole('link', { name: 'D', exact: true }).waitFor();
  await create.waitFor();
  await createSubscription(app, tenant, { name: 'E', environment: 'production' });
  await poll(page);
  await page.getByText('5 of 5 endpoints used').waitFor();
  assert.equal(await create.count(), 0);
});

test('filters and the selected bank are in the URL', async () => {
  const tenant = await createTenant(app);
  const path = `/organizations/${tenant.organizationGuid}/banks`;
  const { body } = await app.operate('POST', path, { name: 'Live bank', environment: 'production' });
  await publishAndDeliver(tenant);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/events');
  await page.getByRole('link', { name: 'transfer.completed' }).waitFor();
  await page.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'trade.failed' }).click();
  await page.getByText('No events match these filters').waitFor();
  assert.match(page.url(), /type=trade\.failed/);
  await page.reload();
  await page.getByText('No events match these filters').waitFor();

  assert.equal(await page.locator('[data-environment]').getAttribute('data-environment'), 'sandbox');
  await page.getByRole('button', { name: 'Bank: Bank' }).click();
  await page.getByRole('option', { name: 'Live bank' }).click();
  await page.locator('[data-environment=production]').waitFor();
  await navigationOf(page).getByRole('link', { name: 'API keys' }).click();
  await page.getByText('Live bank keys').waitFor();
  assert.match(page.url(), new RegExp(`bank=${body.guid}`));
});
