import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { joinTeam } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enterAs, logOut } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
/** Longer than the page takes what it knows of the session for granted. */
const STALE_MS = 90_000;

/** The token that the page asks the API with for what a link of the menu leads to. */
async function tokenBehind(page: Page, link: string, path: string): Promise<string | undefined> {
  const asked = page.waitForRequest((request) => new URL(request.url()).pathname === path);
  await menuOf(page).getByRole('link', { name: link, exact: true }).click();
  return (await asked).headers().authorization;
}

test('whoever logs out of a session that is over is logged out, and told of no problem', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  await page.context().clearCookies();
  await logOut(page);
  assert.equal(await page.getByText('That did not work').count(), 0);
});

test('somebody else who logged in in another tab gets nothing that was fetched for the one before', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('row', { name: /Key/ }).waitFor();
  const before = await tokenBehind(page, 'Team', '/api/members');
  await page.getByRole('button', { name: 'Invite' }).waitFor();

  await enterAs(page, site, tenant, 'viewer');
  await page.clock.setFixedTime(Date.now() + STALE_MS);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByRole('button', { name: 'Invite' }).waitFor({ state: 'detached' });
  const after = await tokenBehind(page, 'API keys', '/api/bank_applications');
  assert.ok(before !== undefined && after !== undefined);
  assert.notEqual(after, before);
});

test('who logged in to join is known as logged in, also when the invitation is then refused', async () => {
  const [first, second] = [await createTenant(app), await createTenant(app)];
  const page = await pages.open();
  await enterAs(page, site, first, 'founder');
  const person = await joinTeam(app, first.organizationGuid);
  const path = `/organizations/${second.organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email: person.email, role: 'viewer' });
  const json = { error: 'conflict', message_code: 'conflict', message: 'Not now' };
  await page.route('**/dashboard/links/accept', (route) => route.fulfill({ status: 409, json }));
  await page.goto(String(body.invitation_link));
  await page.getByRole('button', { name: 'Already have an account? Log in' }).click();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Log in and join' }).click();
  await page.getByText('You are logged in with this address').waitFor();
  await page.unroute('**/dashboard/links/accept');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await menuOf(page).waitFor();
});

test('with ten passkeys another one is not offered, and the page says why', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  const objects = Array.from({ length: 10 }, (_, index) => ({
    guid: String(index).padStart(32, '0'),
    name: `Device ${index}`,
    created_at: app.clock.now().toISOString(),
  }));
  await page.route('**/account/passkeys', (route) => route.fulfill({ json: { objects } }));
  await page.goto('/account');
  await page.getByText('You have 10 passkeys').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add a passkey' }).count(), 0);
});

test('in a full team nobody is offered to invite, and the page says why', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  const objects = Array.from({ length: 200 }, (_, index) => ({
    guid: String(index).padStart(32, '0'),
    email: `person-${index}@acme.test`,
    role: 'viewer',
    state: 'active',
  }));
  await page.route('**/api/members?*', (route) => route.fulfill({ json: { objects } }));
  await page.goto('/team');
  await page.getByText('A team has at most 200 members').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);
});
