import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

test('a guide is found from the dashboard, searched, read in a language and copied', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/subscriptions');
  const link = page.getByRole('link', { name: 'Read the guide' });
  assert.equal(await link.getAttribute('href'), '/guides/webhooks');
  await page.goto('/guides');
  await page.getByRole('heading', { name: 'Guides', level: 1 }).waitFor();
  await assertAccessible(page, 'list of guides');

  await page.keyboard.press('/');
  const results = page.locator('#results');
  await page.keyboard.type('verify signature');
  await results.getByRole('link', { name: /^Verify the signature/ }).waitFor();
  await assertAccessible(page, 'search of the guides');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/guides/webhooks#verify-the-signature');
  await page.getByRole('tab', { name: 'Python', exact: true }).first().click();
  const panel = page.getByRole('tabpanel', { name: 'Python' }).first();
  // At once: the text is shown for a short time.
  await Promise.all([
    panel.getByRole('button', { name: 'Copied' }).waitFor(),
    panel.getByRole('button', { name: 'Copy' }).click(),
  ]);
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^TOLERANCE_SECONDS = 300\n/);
  await page.keyboard.press('Escape');
  await assertAccessible(page, 'guide');

  await page.reload();
  await panel.waitFor();
  await page.waitForFunction(() => scrollY > 0);
  const position = await page.evaluate(() => scrollY);
  await page.keyboard.press('/');
  await page.keyboard.type('zebra');
  await results.getByText('No section matches.').waitFor();
  assert.equal(await page.evaluate(() => scrollY), position, 'typing does not scroll');
  await page.keyboard.press('Escape');
  await results.waitFor({ state: 'hidden' });
  const theme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);
  const before = await theme();
  await page.getByRole('button', { name: /^Switch to/ }).click();
  assert.notEqual(await theme(), before);

  await page.setViewportSize({ width: 380, height: 800 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Errors' }).click();
  await page.waitForURL('**/guides/errors');
  await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
  const sections = page.getByRole('navigation', { name: 'On this page' });
  await sections.getByText('On this page').click();
  await sections.getByRole('link', { name: 'Service' }).click();
  await page.waitForURL('**/guides/errors#service');
});
