import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { navigate, navigationOf } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const tenant = await createTenant(app);

const button = (name: string) => (page: Page) => page.getByRole('button', { name });
/** Pages with their heading and a control that not all roles have. */
const CONTROLS = [
  ['/keys', 'API keys', button('Generate bank key')],
  ['/keys', 'API keys', button('Actions for Key')],
  ['/files', 'Files', (page: Page) => page.locator('input[type=file]')],
  ['/sandbox', 'Sandbox', button('Create transfer')],
  ['/events', 'Events', button('Redeliver events')],
  ['/subscriptions', 'Subscriptions', button('Create Webhook Subscription')],
  ['/team', 'Team', button('Invite')],
] as const;
const RESTRICTED_LINKS = ['Audit log', 'Get started'];

test('Founders see all controls', async () => {
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/');
  await navigationOf(page).waitFor();
  for (const [path, , control] of CONTROLS) {
    await navigate(page, path);
    await control(page).first().waitFor({ state: 'attached' });
  }
  for (const name of RESTRICTED_LINKS) await navigationOf(page).getByRole('link', { name }).waitFor();
});

test('Viewers see no controls, and the API rejects their calls', async () => {
  const page = await pages.open();
  let token = '';
  page.on('request', (request) => {
    token = request.headers().authorization ?? token;
  });
  await enterAs(page, site, tenant, 'viewer');
  await page.goto('/');
  await navigationOf(page).waitFor();
  for (const [path, heading, control] of CONTROLS) {
    await navigate(page, path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    if (path === '/keys') await page.getByText('Any address').first().waitFor();
    assert.equal(await control(page).count(), 0, path);
  }
  for (const name of RESTRICTED_LINKS)
    assert.equal(await navigationOf(page).getByRole('link', { name }).count(), 0, name);

  const customer_guid = await createCustomer(app, tenant.bankGuid);
  const bodies: Record<string, object> = {
    bank_applications: { name: 'Mine', bank_guid: tenant.bankGuid },
    subscriptions: { type: 'webhook', name: 'Mine', url: 'https://partner.example', environment: 'sandbox' },
    files: { type: 'passport', filename: 'me.png', content_type: 'image/png', customer_guid },
    transfers: { transfer_type: 'funding', asset: 'USD', amount: 1, customer_guid },
    members: { email: 'friend@partner.example', role: 'founder' },
  };
  for (const [resource, body] of Object.entries(bodies)) {
    const response = await fetch(`${site.url}/api/${resource}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { message_code: code } = (await response.json()) as { message_code: string };
    assert.deepEqual([response.status, code], [403, 'invalid_scopes'], resource);
  }
});
