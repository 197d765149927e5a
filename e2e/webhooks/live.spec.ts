import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { TOLD_AFTER_MS, untilWatched } from '../../testing/webhooks/live.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { pass, until } from '../../testing/webhooks/webhooks.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

const SHOWN_PER_SECOND = 100;
const SKIPPED = 5;
const TOKEN_MS = 300_000;

test('the live page shows attempts, reconnects when its token expires, and can be paused', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  await app.dispatcher.drain();

  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  let streams = 0;
  page.on('response', (response) => {
    if (response.ok() && response.url().endsWith('/api/subscription_deliveries/live')) streams += 1;
  });
  const publishAndDeliver = async (count = 1) => {
    await publishEvents(app, tenant, count);
    await app.dispatcher.drain();
    app.clock.advance(TOLD_AFTER_MS);
  };
  await page.goto('/live');
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  await publishAndDeliver();
  await page.locator('[data-state=completed]').waitFor();
  await page.getByRole('cell').getByRole('link', { name: 'Ledger' }).waitFor();
  await publishAndDeliver(SHOWN_PER_SECOND + SKIPPED);
  await page.locator('[data-state=completed]').nth(SHOWN_PER_SECOND).waitFor();
  app.clock.advance(TOLD_AFTER_MS);
  await page.getByText(`${SKIPPED} attempts were skipped`).waitFor();

  await pass(TOKEN_MS, [app], 10_000);
  await poll(page);
  await until(() => streams === 2, 'a second stream');
  await untilWatched(app);
  receiver.behave({ kind: 'answer', status: 500 });
  await publishAndDeliver();
  await page.getByText('HTTP 500').waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Clear rows' }).click();
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('the live page recovers from a rejected stream, applies filters, and requires a login', async () => {
  const page = await pages.open();
  const person = await enterAs(page, site, await createTenant(app), 'viewer');
  const errors = [
    { status: 403, error: 'forbidden', code: 'invalid_scopes', message: 'Not for this role' },
    { status: 429, error: 'too_many_requests', code: 'rate_limit_exceeded', message: 'Close one first' },
  ];
  await page.route('**/api/subscription_deliveries/live*', async (route) => {
    const failure = errors.shift();
    if (!failure) return route.continue();
    const { status, error, code, message } = failure;
    const json = { error, message_code: code, message };
    return route.fulfill({ status, headers: { 'retry-after': '60' }, json });
  });
  const status = page.getByRole('status');
  await page.goto('/live');
  await page.getByText('Not for this role').waitFor();
  await status.getByText('Not connected').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Close one first').waitFor();
  assert.equal(await page.getByText('Not for this role').count(), 0);
  await poll(page, 61_000);
  await status.getByText('Live', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);

  const filtered = page.waitForRequest((request) => request.url().endsWith('/live?state=failed'));
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Failed' }).click();
  await filtered;
  await status.getByText('Live', { exact: true }).waitFor();

  await page.context().clearCookies();
  await pass(TOKEN_MS, [app], 10_000);
  await poll(page);
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await status.getByText('Live', { exact: true }).waitFor();
});
