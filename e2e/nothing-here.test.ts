import { test } from 'node:test';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

test('what is not for this role, or does not exist, is said without a serious violation', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  await page.goto('/onboarding');
  await page.getByText('Set-up is not for your role').waitFor();
  await assertAccessible(page, 'not for this role');
  // The server has no such page, so only a link within the dashboard leads there.
  await page.evaluate(() => history.pushState({}, '', '/nowhere'));
  await page.getByText('There is no such page').waitFor();
  await assertAccessible(page, 'no such page');
});

test('so is what the Organization was not given', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app, { features: [] }), 'founder');
  await page.goto('/files');
  await page.getByText('Acme does not have files yet').waitFor();
  await assertAccessible(page, 'a feature that is off');
});

test('so is that somebody belongs to no Organization any more', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  await page.goto('/keys');
  await menuOf(page).waitFor();
  await page.route('**/dashboard/session', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), organizations: [] } });
  });
  await page.reload();
  await page.getByText('You belong to no Organization').waitFor();
  await assertAccessible(page, 'no Organization');
});
