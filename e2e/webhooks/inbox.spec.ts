import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { until } from '../../testing/webhooks/webhooks.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

test('an inbox is created and subscribed, shows each request as it arrived with code and a check for its signature, and answers as chosen', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/inbox');
  await page.getByText('No inbox in sandbox yet').waitFor();
  await page.getByRole('button', { name: 'Create inbox' }).click();
  await page.getByText('No subscription sends to this inbox').waitFor();
  await navigate(page, '/subscriptions');
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const offered = page.getByRole('dialog');
  await offered.getByRole('button', { name: 'Use an inbox' }).click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('input')].some(({ value }) => value.includes('/portico-inbox/')),
  );
  await offered.getByRole('button', { name: 'Cancel' }).click();
  await navigate(page, '/inbox');
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).click();
  const dialog = page.getByRole('dialog');
  assert.match(await dialog.getByLabel('URL').inputValue(), /\/portico-inbox\/[0-9a-f]{32}$/);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const key = await takeSecret(dialog, 'signing_key', 'Done');
  await page.getByRole('heading', { name: 'Inbox 1' }).waitFor();
  await app.dispatcher.drain();

  await page.getByRole('link', { name: 'Inbox', exact: true }).click();
  const storing = page.getByRole('row', { name: /subscription.storing/ });
  await storing.getByText('Signature valid').waitFor();
  await page.getByRole('link', { name: 'Inbox 1' }).waitFor();
  await page.getByText('Limits: 600 requests a minute, 64 KiB each.').waitFor();
  const guide = page.getByRole('link', { name: 'Read the guide' });
  assert.equal(await guide.getAttribute('href'), '/guides/webhooks#inbox');
  await assertAccessible(page, 'the inbox');

  await page.getByRole('button', { name: 'Verification code' }).click();
  await dialog.getByRole('tab', { name: 'Go', exact: true }).click();
  await dialog.getByRole('button', { name: 'Copy verification code' }).click();
  // The browser writes to the clipboard in the background.
  const isCopied = async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    return /"YOUR_SIGNING_KEY".*func isGenuine/s.test(text);
  };
  await until(isCopied, 'the verification code in the clipboard');
  await page.keyboard.press('Escape');

  const changed = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.getByText('500', { exact: true }).click();
  await changed;
  await page.getByText('Answers 500: the attempt is rejected').waitFor();
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await poll(page);
  const completed = page.getByRole('row', { name: /transfer.completed/ });
  await completed.getByText('500').waitFor();
  await completed.getByRole('button', { name: 'transfer.completed' }).click();
  const drawer = page.getByRole('dialog', { name: 'Request' });
  await drawer.getByText('webhook-signature').waitFor();
  const body = await drawer.getByRole('region', { name: 'request body' }).textContent();
  assert.match(body ?? '', /^\{"guid":".*"event_type":"transfer.completed"/, 'raw, not formatted');
  await assertAccessible(page, 'a request of the inbox');
  await drawer.getByRole('button', { name: 'Check a signature' }).click();
  const box = page.getByRole('dialog', { name: 'Check a signature' });
  await box.getByLabel('Signing key').fill(key);
  await box.getByRole('button', { name: 'Check signature' }).click();
  await box.getByText('Signature valid', { exact: true }).waitFor();
  await box.getByRole('button', { name: 'Close' }).click();
  await box.waitFor({ state: 'detached' });
  await drawer.waitFor();
});
