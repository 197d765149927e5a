import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, navigationOf, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

test('the Organization page renames the Organization and its banks, and ticks the steps to production', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/organization');
  const steps = page.getByRole('list', { name: 'Steps to production' });
  await steps
    .getByRole('listitem')
    .filter({ hasText: 'A production bank exists' })
    .getByText('To do')
    .waitFor();
  await steps.getByRole('link', { name: 'Open alert settings' }).waitFor();
  await assertAccessible(page, '/organization');

  await page.getByRole('region', { name: 'Details' }).getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Acme Trading');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('region', { name: 'Details' }).getByText('Acme Trading').waitFor();

  const banks = page.getByRole('region', { name: 'Banks' });
  await banks.getByRole('button', { name: 'Rename Bank' }).click();
  await assertAccessible(page, 'rename bank');
  await page.getByRole('dialog').getByLabel('Name').fill('First Bank');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await banks.getByRole('row', { name: /First Bank/ }).waitFor();
  await banks.getByRole('button', { name: 'Create sandbox bank' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Second Bank');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await banks.getByRole('row', { name: /Second Bank.*Sandbox/ }).waitFor();

  const { organizationGuid } = tenant;
  await app.operate('POST', `/organizations/${organizationGuid}/banks`, {
    ...{ name: 'Real Bank', environment: 'production' },
  });
  await page.reload();
  await steps
    .getByRole('listitem')
    .filter({ hasText: 'A production bank exists' })
    .getByText('Done')
    .waitFor();
  await page.getByRole('link', { name: 'Alert settings', exact: true }).click();
  await page.getByRole('heading', { name: 'Alert settings' }).waitFor();
  for (const path of ['/files', '/requests?status=5xx']) {
    await navigate(page, path);
    await page.getByText('You see only sandbox').waitFor();
  }
});

test('get started ticks what exists, notices the first call and then leaves the menu', async () => {
  await startDispatcher();
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  await createSubscription(app, tenant, { url: endpoint.url });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/onboarding');
  const link = navigationOf(page).getByRole('link', { name: 'Get started' });
  await page.getByText('Waiting for the first call').waitFor();
  await link.waitFor();
  await assertAccessible(page, '/onboarding: first call');

  await tokenOf(app, tenant.bankKey, 'customers:read');
  await poll(page);
  await page.getByText('First call received').waitFor();
  await link.waitFor({ state: 'detached' });
});

test('an invitation shows its expiry and is sent again', async () => {
  const tenant = await createTenant(app);
  await app.operate('POST', `/organizations/${tenant.organizationGuid}/members`, {
    ...{ email: 'late@acme.test', role: 'viewer' },
  });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/team');
  const row = page.getByRole('row', { name: /late@acme\.test/ });
  await row.getByText('in 7 days').waitFor();
  await row.getByRole('button', { name: 'Actions for late@acme.test' }).click();
  await page.getByRole('menuitem', { name: 'Send invitation again' }).click();
  const dialog = page.getByRole('dialog');
  await assertAccessible(page, 'send invitation again');
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await dialog.getByText('invitation_link').waitFor();
});

test('an unknown address is a page with a way back; loading and lost connections are said', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  const answer = await page.goto('/no-such-page');
  assert.equal(answer?.status(), 404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await assertAccessible(page, 'unknown address');
  await page.getByRole('link', { name: 'Go to overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/banks?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/keys');
  await page.getByRole('status', { name: 'Loading' }).waitFor();
  assert.equal(await page.getByText('No banks yet').count(), 0);
  release();
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
  await navigate(page, '/team');
  // Its script is loaded before the connection is lost.
  await page.getByRole('heading', { name: 'Team' }).waitFor();
  await page.context().setOffline(true);
  await page.getByText('You are offline.').waitFor();
  await page.context().setOffline(false);
  await page.getByText('You are offline.').waitFor({ state: 'detached' });
});
