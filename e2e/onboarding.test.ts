import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { joinTeam } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enterAs, fillLogin, logOut } from './support/people.ts';
import { allowCurrentAddress, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const SUPPORT = 'help@portico.test';
const site = await createDashboardSite({ PORTICO_SUPPORT_EMAIL: SUPPORT });
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

async function createOrganization(features: string[] = ['webhooks', 'files']): Promise<string> {
  const { body } = await app.operate('POST', '/organizations', { name: 'Acme', features });
  return String(body.guid);
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

test('a new Organization is led to the wizard after the login, once, and may skip it', async () => {
  const founder = await joinTeam(app, await createOrganization());
  const page = await pages.open();
  await page.goto('/');
  await fillLogin(page, founder);
  await heading(page, 'Get started').waitFor();
  assert.equal(new URL(page.url()).pathname, '/onboarding');
  await page.getByRole('link', { name: 'Skip the set-up' }).click();
  await heading(page, 'Overview').waitFor();

  await page.reload();
  await heading(page, 'Overview').waitFor();
  await page.getByText('Nothing was sent in this time').waitFor();
  await logOut(page);
  await fillLogin(page, founder);
  await heading(page, 'Overview').waitFor();
});

test('whoever is in an Organization with a key, or may not set it up, is led nowhere', async () => {
  const [withKey, without] = [await createTenant(app), await createOrganization()];
  for (const [organizationGuid, role] of [
    [withKey.organizationGuid, 'founder'],
    [without, 'developer'],
    [without, 'viewer'],
  ] as const) {
    const page = await pages.open();
    await enterAs(page, site, { organizationGuid }, role);
    await page.goto('/');
    await page.getByText('Nothing was sent in this time').waitFor();
    await heading(page, 'Overview').waitFor();
  }
});

test('what could not be found out holds nobody up, and is asked again', async () => {
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

test('without webhooks the wizard ends with a call that the key is allowed, and asks for no endpoint', async () => {
  const page = await pages.open();
  await enterAs(page, site, { organizationGuid: await createOrganization([]) }, 'founder');
  await page.goto('/');
  await heading(page, 'Get started').waitFor();
  assert.equal(await page.getByText('Test event').count(), 0);
  await page.getByLabel('Name of the bank').fill('Acme Bank');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Continue with Acme Bank' }).click();
  await allowCurrentAddress(page);
  // As if only these had been chosen: which boxes the form has is the business of its own test.
  await page.route('**/api/bank_applications', (route) => {
    const asked = route.request().postDataJSON() as object;
    return route.continue({ postData: { ...asked, scopes: ['trades:read', 'accounts:execute'] } });
  });
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  await takeSecret(page, 'client_secret', 'Continue');
  await page.getByText('lists the trades that it sees').waitFor();
  const command = String(await page.getByRole('region', { name: 'command' }).textContent());
  assert.ok(command.includes('scope=trades:read') && command.includes('/api/trades'), command);
});

test('pages of webhooks and files say calmly that the Organization does not have them, and ask for nothing', async () => {
  const tenant = await createTenant(app, { features: [] });
  const page = await pages.open();
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  await enterAs(page, site, tenant, 'founder');
  const guid = 'a'.repeat(32);
  for (const path of [
    'overview',
    'live',
    'events',
    `events/${guid}`,
    'subscriptions',
    `subscriptions/${guid}`,
  ]) {
    await page.goto(`/${path}`);
    await heading(page, 'Webhooks').waitFor();
    await page.getByText('Acme does not have webhooks yet').waitFor();
    await page.getByRole('link', { name: SUPPORT }).waitFor();
  }
  await page.goto('/files');
  await page.getByText('Acme does not have files yet').waitFor();
  assert.deepEqual(refused, []);
  for (const name of ['Events', 'Live', 'Subscriptions', 'Files'])
    assert.equal(await menuOf(page).getByRole('link', { name, exact: true }).count(), 0, name);
});

test('another Organization is opened without the bank and the filters of the one before', async () => {
  const first = await createTenant(app);
  const second = await createTenant(app);
  const page = await pages.open();
  const person = await enterAs(page, site, first, 'founder');
  const path = `/organizations/${second.organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email: person.email, role: 'founder' });
  assert.equal(invited.status, 201, JSON.stringify(invited.body));
  await page.goto(String(invited.body.invitation_link));
  await page.getByRole('button', { name: /join/i }).click();
  await menuOf(page).waitFor();

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
    'nothing of the first one is in the address',
  );
  assert.equal(new URL(page.url()).pathname, '/events');
});
