import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { allowCurrentAddress, takeSecret } from '../support/one-time-secrets.ts';
import { navigate, navigationOf } from '../support/pages.ts';
import { enterAs, joinOrganization, logOut, submitLogin } from '../support/people.ts';
import { SUPPORT_EMAIL } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

async function createOrganization(features: string[] = ['webhooks', 'files']): Promise<string> {
  const { body } = await app.operate('POST', '/organizations', { name: 'Acme', features });
  return String(body.guid);
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

test('the first login of a new Organization opens the onboarding once', async () => {
  const founder = await joinTeam(app, await createOrganization());
  const page = await pages.open();
  await page.goto('/');
  await submitLogin(page, founder);
  await heading(page, 'Get started').waitFor();
  assert.equal(new URL(page.url()).pathname, '/onboarding');
  await page.getByRole('link', { name: 'Skip setup' }).click();
  await heading(page, 'Overview').waitFor();

  await page.reload();
  await heading(page, 'Overview').waitFor();
  await page.getByText('No attempts in this period').waitFor();
  await logOut(page);
  await submitLogin(page, founder);
  await heading(page, 'Overview').waitFor();
});

test('the overview opens directly if a key exists or the role cannot create one', async () => {
  const page = await pages.open();
  const [withKey, without] = [await createTenant(app), await createOrganization()];
  for (const [organizationGuid, role] of [
    [withKey.organizationGuid, 'founder'],
    [without, 'developer'],
    [without, 'viewer'],
  ] as const) {
    await enterAs(page, site, { organizationGuid }, role);
    await page.goto('/');
    await page.getByText('No attempts in this period').waitFor();
    await heading(page, 'Overview').waitFor();
  }
});

test('an error of the onboarding check opens the overview, and the check is repeated', async () => {
  const page = await pages.open();
  await enterAs(page, site, { organizationGuid: await createOrganization() }, 'founder');
  const json = { error: 'forbidden', message_code: 'invalid_parameter', message: 'no' };
  await page.route('**/api/bank_applications?*', (route) => route.fulfill({ status: 400, json }));
  await page.goto('/overview');
  await heading(page, 'Overview').waitFor();
  await page.unroute('**/api/bank_applications?*');
  await page.reload();
  await heading(page, 'Get started').waitFor();
});

test('the onboarding without webhooks ends with a call that the scopes of the key allow', async () => {
  const page = await pages.open();
  await enterAs(page, site, { organizationGuid: await createOrganization([]) }, 'founder');
  await page.goto('/');
  await heading(page, 'Get started').waitFor();
  assert.equal(await page.getByText('Test event').count(), 0);
  await page.getByLabel('Bank name').fill('Acme Bank');
  await page.getByRole('button', { name: 'Create bank' }).click();
  await allowCurrentAddress(page);
  // Other scopes than the default, without the steps to select them.
  await page.route('**/api/bank_applications', (route) => {
    const sent = route.request().postDataJSON() as object;
    return route.continue({ postData: { ...sent, scopes: ['trades:read', 'accounts:execute'] } });
  });
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  await takeSecret(page, 'client_secret', 'Continue');
  await page.getByText('lists your trades').waitFor();
  const command = String(await page.getByRole('region', { name: 'command' }).textContent());
  assert.ok(command.includes('scope=trades:read') && command.includes('/api/trades'), command);
});

test('pages of disabled features explain how to enable them and send no requests', async () => {
  const tenant = await createTenant(app, { features: [] });
  const page = await pages.open();
  const errors: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(response.url());
  });
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/');
  const guid = 'a'.repeat(32);
  for (const path of [
    'overview',
    'live',
    'events',
    `events/${guid}`,
    'subscriptions',
    `subscriptions/${guid}`,
  ]) {
    await navigate(page, '/team');
    await heading(page, 'Team').waitFor();
    await navigate(page, `/${path}`);
    await heading(page, 'Webhooks').waitFor();
    await page.getByText('Webhooks are not enabled for Acme').waitFor();
    await page.getByRole('link', { name: SUPPORT_EMAIL }).waitFor();
  }
  await navigate(page, '/files');
  await page.getByText('Files are not enabled for Acme').waitFor();
  assert.deepEqual(errors, []);
  for (const name of ['Events', 'Live', 'Subscriptions', 'Files'])
    assert.equal(await navigationOf(page).getByRole('link', { name, exact: true }).count(), 0, name);
});

test('switching the Organization drops the bank and the filters', async () => {
  const first = await createTenant(app);
  const second = await createTenant(app);
  const page = await pages.open();
  const person = await enterAs(page, site, first, 'founder');
  await joinOrganization(page, site, person, second.organizationGuid);

  await page.goto(
    `/events?org=${first.organizationGuid}&bank=${first.bankGuid}&object=${'b'.repeat(32)}&banks=all`,
  );
  await heading(page, 'Events').waitFor();
  await page.getByRole('button', { name: 'Organization: Acme' }).click();
  await page.getByRole('menuitem').last().click();
  await page.waitForURL((url) => url.searchParams.get('org') === second.organizationGuid);
  assert.deepEqual(
    [...new URL(page.url()).searchParams.keys()],
    ['org'],
    'the URL names only the new Organization',
  );
  assert.equal(new URL(page.url()).pathname, '/events');
});
