import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const OUTSIDE = '192.0.2.1';

test('a denied call is found by its request id, its filters and similar calls', async () => {
  const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.0/24'] });
  const token = await tokenOf(app, tenant.organizationKey, 'banks:read');
  const call = (url: string, address: string) =>
    app.call({ url, token, headers: { 'x-forwarded-for': address } });
  const denied = await call('/api/banks', OUTSIDE);
  await call(`/api/banks/${tenant.bankGuid}`, '198.35.26.7');
  const missing = await call(`/api/banks/${tenant.organizationGuid}`, '198.35.26.7');
  await app.requestRecorder.flush();

  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  await page.goto('/requests');
  const rows = page.getByRole('table', { name: 'Requests' }).getByRole('row');
  await rows.getByText('ip_not_allowed').waitFor();
  assert.equal(await rows.count(), 5, 'three calls, the token request and the header');
  await assertAccessible(page, 'requests');

  await page.getByRole('combobox', { name: 'Time' }).click();
  await page.getByRole('option', { name: 'Last hour' }).click();
  await page.waitForURL(/time=1h/);
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'All errors' }).click();
  await page.waitForURL(/status=4xx/);
  await rows.getByText('200').first().waitFor({ state: 'detached' });
  await page.getByLabel('Address').fill(OUTSIDE);
  await page.getByLabel('Address').press('Enter');
  await rows.getByText('not_found').waitFor({ state: 'detached' });
  assert.ok(await page.getByLabel('Address').evaluate((field) => field === document.activeElement));
  await rows.getByRole('button', { name: 'GET /api/banks' }).click();
  const drawer = page.getByRole('dialog', { name: 'Request' });
  await drawer.getByText(String(denied.headers['x-request-id'])).waitFor();
  await assertAccessible(page, 'request drawer');
  // Newer requests push it off the page.
  const json = { total: 0, page: 1, per_page: 50, objects: [] };
  await page.route('**/api/request_log?*', (route) => route.fulfill({ json }));
  await poll(page);
  await rows.first().waitFor({ state: 'detached' });
  await page.unroute('**/api/request_log?*');
  await drawer.getByRole('link', { name: 'Requests of this key' }).click();
  await page.waitForURL(/client_id=/);
  await rows.getByText('not_found').waitFor();

  await navigate(page, `/requests?request_id=${missing.headers['x-request-id']}`);
  await drawer.getByText(tenant.organizationGuid).waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Request ID').fill('0'.repeat(32));
  await page.getByText('No request with this ID').waitFor();
});

test('the search finds identifiers, pages and actions by keyboard and on a phone', async () => {
  const tenant = await createTenant(app);
  const production = await app.operate('POST', `/organizations/${tenant.organizationGuid}/banks`, {
    ...{ name: 'Live bank', environment: 'production' },
  });
  const { guid } = await createSubscription(app, tenant, {
    name: 'Ledger',
    url: 'https://ledger.test/hooks',
  });
  const host = { host: `production.${new URL(site.url).host}` };
  const token = await tokenOf(app, tenant.organizationKey, 'banks:read', host);
  const call = await app.call({ url: '/api/banks', token });
  await app.requestRecorder.flush();

  const page = await pages.open();
  const founder = await enterAs(page, site, tenant, 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Search' }).waitFor();
  const search = async (text: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(text);
  };
  const choose = async (name: string | RegExp) => {
    await selected(page, name);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' });
  };
  await search('req');
  await assertAccessible(page, 'search');
  await choose('Requests');
  await page.getByRole('heading', { name: 'Requests' }).waitFor();

  await search(`  ${guid.toUpperCase()} `);
  await choose(/^Ledger/);
  await page.getByRole('heading', { name: 'Ledger' }).waitFor();

  await search('https://ledger.test/hooks');
  await choose(/^Ledger/);
  await search(founder.email);
  await choose(/Member/);
  const rows = page.getByRole('row');
  await rows.filter({ hasText: founder.email }).waitFor();
  assert.equal(await rows.count(), 2, 'the member and the header');
  await search(tenant.organizationKey.clientId);
  await choose(/API key/);
  await page.getByRole('button', { name: 'Show all keys' }).click();
  await page.waitForURL((url) => url.pathname === '/keys' && !url.searchParams.has('client_id'));

  const requestId = String(call.headers['x-request-id']);
  await navigate(page, `/requests?request_id=${requestId}`);
  await page.getByRole('link', { name: 'View in production' }).waitFor();
  await assertAccessible(page, 'a request of the other environment');
  await search(requestId);
  await choose(/GET \/api\/banks.*Switches to production/);
  await page.getByRole('dialog', { name: 'Request' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('bank'), production.body.guid);
  await page.locator('[data-environment=production]').waitFor();
  await page.keyboard.press('Escape');

  await page.setViewportSize({ width: 380, height: 800 });
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox', { name: 'Search' }).fill('0'.repeat(32));
  await page.getByText('Nothing with this identifier').waitFor();
  await page.getByRole('combobox', { name: 'Search' }).fill('failed requests');
  await choose('Show failed requests');
  await page.waitForURL(/status=4xx/);
});

/** The option that Enter chooses. */
async function selected(page: Page, name: string | RegExp): Promise<void> {
  await page.locator('[role=option][data-combobox-selected]').filter({ hasText: name }).waitFor();
}
