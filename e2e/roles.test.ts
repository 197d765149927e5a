import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createCustomer } from '../testing/customers.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const tenant = await createTenant(site.app);

const button = (name: string) => (page: Page) => page.getByRole('button', { name });
/** Where something can be created or changed, and by what. */
const OFFERS = [
  ['/keys', 'API keys', button('Generate bank key')],
  ['/keys', 'API keys', button('Actions for Key')],
  ['/files', 'Files', (page: Page) => page.locator('input[type=file]')],
  ['/sandbox', 'Sandbox', button('Create transfer')],
  ['/events', 'Events', button('Recover')],
  ['/team', 'Team', button('Invite')],
] as const;
const FOR_FEW = ['Subscriptions', 'Audit', 'Get started'];

const entriesOf = (page: Page) => page.getByRole('navigation', { name: 'Pages of the dashboard' });

test('a Founder is offered everything', async () => {
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  for (const [path, , offer] of OFFERS) {
    await page.goto(path);
    await offer(page).first().waitFor({ state: 'attached' });
  }
  for (const name of FOR_FEW) await entriesOf(page).getByRole('link', { name }).waitFor();
});

test('a Viewer is offered nothing of it, and is refused when it is called anyway', async () => {
  const page = await pages.open();
  let token = '';
  page.on('request', (request) => {
    token = request.headers().authorization ?? token;
  });
  await enterAs(page, site, tenant, 'viewer');
  for (const [path, heading, offer] of OFFERS) {
    await page.goto(path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    if (path === '/keys') await page.getByText('Any address').first().waitFor();
    assert.equal(await offer(page).count(), 0, path);
  }
  for (const name of FOR_FEW)
    assert.equal(await entriesOf(page).getByRole('link', { name }).count(), 0, name);

  const customer_guid = await createCustomer(site.app, tenant.bankGuid);
  const refused: Record<string, object> = {
    bank_applications: { name: 'Mine', bank_guid: tenant.bankGuid },
    subscriptions: { type: 'webhook', name: 'Mine', url: 'https://partner.example', environment: 'sandbox' },
    files: { type: 'passport', filename: 'me.png', content_type: 'image/png', customer_guid },
    transfers: { transfer_type: 'funding', asset: 'USD', amount: 1, customer_guid },
    members: { email: 'friend@partner.example', role: 'founder' },
  };
  for (const [resource, body] of Object.entries(refused)) {
    const response = await fetch(`${site.url}/api/${resource}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { message_code: code } = (await response.json()) as { message_code: string };
    assert.deepEqual([response.status, code], [403, 'invalid_scopes'], resource);
  }
});
