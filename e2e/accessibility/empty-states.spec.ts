import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, navigationOf } from '../support/pages.ts';
import { enter, enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

test('pages without access and unknown pages are accessible', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  await page.goto('/onboarding');
  await page.getByText('You need the Key Admin or Founder role to set up keys').waitFor();
  await assertAccessible(page, 'page without access');
  // The server returns 404 for unknown paths, so only client-side navigation gets here.
  await page.evaluate(() => history.pushState({}, '', '/nowhere'));
  await page.getByText('Page not found').waitFor();
  await assertAccessible(page, 'page not found');
});

test('pages that need a bank keep their title, and offer to create one to those who may', async () => {
  const { body } = await app.operate('POST', '/organizations', { name: 'Acme', features: ['webhooks'] });
  const page = await pages.open();
  for (const [role, target] of [
    ['viewer', undefined],
    ['developer', '/organization'],
    ['founder', '/onboarding'],
  ] as const) {
    await enterAs(page, site, { organizationGuid: String(body.guid) }, role);
    await page.goto('/team');
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    for (const [path, heading] of [
      ['/sandbox', 'Sandbox'],
      ['/keys', 'API keys'],
    ] as const) {
      await navigate(page, path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      const main = page.getByRole('main');
      const create = main.getByRole('link', { name: 'Create sandbox bank' });
      if (target === undefined)
        await main.getByText('Ask a Founder, Key Admin or Developer to create one.').waitFor();
      else assert.match(String(await create.getAttribute('href')), new RegExp(`^${target}`));
      assert.equal(await create.count(), target === undefined ? 0 : 1);
    }
    await assertAccessible(page, `no bank: ${role}`);
  }
});

test('the page of a disabled feature is accessible', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app, { features: [] }), 'founder');
  await page.goto('/files');
  await page.getByText('Files are not enabled for Acme').waitFor();
  await assertAccessible(page, 'disabled feature');
});

test('the page of a user without Organization is accessible', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  await page.goto('/keys');
  await navigationOf(page).waitFor();
  await page.route('**/dashboard/session', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), organizations: [] } });
  });
  await page.reload();
  await page.getByText('You are not a member of an Organization').waitFor();
  await assertAccessible(page, 'no Organization');
});

test('the exact time is available to keyboard users', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enter(page, site, await joinTeam(app, tenant.organizationGuid));
  await page.goto('/keys');
  const created = page.getByRole('row', { name: /^Key/ }).locator('time');
  const at = String(await created.getAttribute('datetime'));
  await created.focus();
  await page.getByRole('tooltip').getByText(at).waitFor();
});
