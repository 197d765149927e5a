import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { navigationOf } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

test('a page that cannot be loaded keeps the dashboard, and Retry loads it with its styles', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  await page.route('**', (route) => route.abort());
  await navigationOf(page).getByRole('link', { name: 'Overview' }).click();
  const retry = page.getByRole('alert').getByRole('button', { name: 'Retry' });
  await page.getByText('Could not reach the service').waitFor();
  await retry.click();
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  await page.getByRole('heading', { name: 'Team' }).waitFor();
  await navigationOf(page).getByRole('link', { name: 'Overview' }).click();
  await retry.waitFor();
  await page.unroute('**');
  await retry.click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].every(({ sheet }) => sheet),
  );
});

test('a page that could not be loaded offline is loaded when the browser is online again', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  await page.context().setOffline(true);
  await navigationOf(page).getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('Could not reach the service').waitFor();
  await page.context().setOffline(false);
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
});

test('a search or list of alerts that cannot be loaded leaves the page as it is', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).first().click();
  const form = page.getByRole('dialog', { name: 'Invite member' });
  await form.getByLabel('Email').fill('grace@acme.test');
  await page.route('**/assets/**', (route) => route.abort());
  await page.keyboard.press('Control+K');
  const search = page.getByRole('dialog', { name: 'Search' });
  await search.getByText('Could not load this part of the page').waitFor();
  await search.getByRole('button', { name: 'Close' }).click();
  assert.equal(await form.getByLabel('Email').inputValue(), 'grace@acme.test');
  await form.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: /^Alerts/ }).click();
  const alerts = page.getByRole('dialog', { name: 'Alerts' });
  await alerts.getByText('Could not load this part of the page').waitFor();
});

test('a page whose script was replaced reloads the document when it is opened, not when its link is hovered over', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const documents: string[] = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname);
  });
  await page.route('**/assets/TeamPage-*.js', (route) =>
    documents.length === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  const link = navigationOf(page).getByRole('link', { name: 'Team' });
  const probe = page.waitForResponse('**/icon.svg');
  await link.hover();
  await probe;
  // A reload for the link under the pointer would start before a second response.
  await page.evaluate(async () => (await fetch('/icon.svg')).text());
  await link.click();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  assert.deepEqual(documents, ['/team']);
  const stored = await page.evaluate(() => Object.keys(sessionStorage));
  assert.deepEqual(
    stored.filter((key) => key.startsWith('portico.reloaded')),
    [],
  );
});

test('a page whose script is missing after the reload, too, shows the error, and Retry reloads the document', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const documents: string[] = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname);
  });
  await page.route('**/assets/TeamPage-*.js', (route) => route.fulfill({ status: 404 }));
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  const retry = page.getByRole('alert').getByRole('button', { name: 'Retry' });
  await retry.waitFor();
  assert.deepEqual(documents, ['/team']);
  for (const error of pages.takeErrors()) assert.match(error, /dynamically imported module/);
  await page.unrouteAll();
  await retry.click();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  assert.deepEqual(documents, ['/team', '/team']);
});
