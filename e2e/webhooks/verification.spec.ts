import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

/** Everything that the page sends. */
function recordRequests(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  return sent;
}

test('verification code has the signing key, and a pasted request is checked without sending the key', async () => {
  const endpoint = await createTestEndpoint();
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'key_admin');
  await page.goto('/subscriptions');
  const sent = recordRequests(page);
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const dialog = page.getByRole('dialog').first();
  await dialog.getByLabel('Name').fill('Ledger');
  await dialog.getByLabel('URL').fill(endpoint.url);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const key = String(await dialog.locator('[data-secret=signing_key]').textContent());
  const code = dialog.getByRole('region', { name: 'verification code' });
  assert.match(String(await code.textContent()), new RegExp(`'${key}'.*function isGenuine`, 's'));
  await dialog.getByRole('tab', { name: 'Python' }).click();
  assert.match(String(await code.textContent()), new RegExp(`"${key}".*def is_genuine`, 's'));
  await assertAccessible(page, 'the signing key with verification code');

  await app.dispatcher.drain();
  const [request] = endpoint.received;
  assert.ok(request);
  const names = ['x-service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = names.map((name) => `> ${name}: ${request.headers[name]}`).join('\n');
  const body = request.body.toString();
  await dialog.getByRole('button', { name: 'Check a signature' }).click();
  const box = page.getByRole('dialog', { name: 'Check a signature' });
  const signingKey = box.getByRole('textbox', { name: 'Signing key' });
  const check = async (title: string) => {
    await box.getByRole('button', { name: 'Check signature' }).click();
    await box.getByRole('alert', { name: title }).waitFor();
  };
  assert.equal(await signingKey.inputValue(), key);
  await box.getByLabel('Headers').fill(headers);
  await box.getByLabel('Body').fill(body);
  await check('Signature valid');
  await box.getByLabel('Body').fill(JSON.stringify(JSON.parse(body), undefined, 2));
  await check('Body changed');
  await assertAccessible(page, 'the box that checks a signature');
  await box.getByRole('button', { name: 'Close' }).click();
  assert.equal(await takeSecret(dialog, 'signing_key', 'Done'), key);

  await page.getByRole('heading', { name: 'Ledger' }).waitFor();
  // By keyboard: what is loaded above the button moves it.
  await page.getByRole('button', { name: 'Check a signature' }).press('Enter');
  await box.getByLabel('Headers').fill(headers);
  await box.getByLabel('Body').fill(body);
  await signingKey.fill('0'.repeat(64));
  await check('Wrong signing key');
  await signingKey.fill(key);
  await page.clock.fastForward(6 * 60_000);
  await check('Timestamp older than 5 minutes');
  await box.getByRole('button', { name: 'Close' }).click();
  assert.deepEqual(
    sent.filter((text) => text.includes(key)),
    [],
  );
});
