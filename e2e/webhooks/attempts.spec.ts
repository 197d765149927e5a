import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { pass } from '../../testing/webhooks/webhooks.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

test('deliveries are filtered in the address, redelivered together, and show request and response', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: `${endpoint.url}/hook`, name: 'Ledger' });
  await app.dispatcher.drain();
  endpoint.behave({
    kind: 'answer',
    status: 500,
    headers: { 'content-type': 'application/json', 'x-served-by': 'node-7', 'set-cookie': 'a=1' },
    body: '{"error":"database connection pool exhausted"}',
  });
  const [failed = ''] = await publishEvents(app, tenant, [{ event_type: 'trade.failed' }, {}]);
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');

  await page.goto(`/subscriptions/${guid}`);
  const table = page.getByRole('table', { name: 'Deliveries' });
  await table.getByRole('row', { name: /trade\.failed/ }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Retrying' }).click();
  await table.getByText('subscription.storing').waitFor({ state: 'detached' });
  await navigate(page, `/subscriptions/${guid}?state=failing&type=trade.failed`);
  await table.getByText('transfer.completed').waitFor({ state: 'detached' });
  await table.getByText('Retrying', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Created' }).click();
  await page.getByRole('option', { name: 'Last hour' }).click();
  await page.waitForURL(/time=1h/);
  await table.getByText('Retrying', { exact: true }).waitFor();
  await navigate(page, `/subscriptions/${guid}?state=failed`);
  await page.getByText('No deliveries match these filters').waitFor();

  await navigate(page, `/subscriptions/${guid}?state=failing`);
  await table.getByText('trade.failed').waitFor();
  await page.getByLabel('Select this page').check();
  await page.getByText('2 selected').waitFor();
  await assertAccessible(page, 'deliveries of an endpoint with a selection');
  await page.getByRole('button', { name: 'Redeliver 2' }).click();
  await page.getByText('2 redeliveries').waitFor();
  await app.dispatcher.drain();
  await poll(page);
  await page.getByText('2 redeliveries: 2 Retrying').waitFor();

  await navigate(page, `/events/${failed}`);
  await page.getByRole('button', { name: 'View attempts' }).last().click();
  await page.getByRole('dialog').getByRole('link', { name: 'Open as a page' }).click();
  await page.getByRole('heading', { name: 'Delivery of trade.failed' }).waitFor();
  assert.match(page.url(), /\/deliveries\/[0-9a-f]{32}/);
  const attempt = page.getByRole('region', { name: 'Attempt 1' });
  await attempt.getByText(`POST ${endpoint.url}/hook`).waitFor();
  await attempt.getByText('127.0.0.1', { exact: true }).waitFor();
  await attempt.getByText('webhook-signature').waitFor();
  await attempt.getByText('node-7').waitFor();
  assert.equal(await attempt.getByText('set-cookie').count(), 0);
  await attempt.getByText('Automatic').first().waitFor();
  const body = attempt.getByRole('region', { name: 'request body of attempt 1' });
  assert.match(String(await body.textContent()), /\n {2}"event_type": "trade\.failed"/);
  await attempt.getByText('Raw').first().click();
  const sent = endpoint.received.find((request) => request.body.includes('trade.failed'));
  assert.equal(await body.textContent(), sent?.body.toString());
  await page
    .getByText('failing', { exact: true })
    .or(page.getByText('storing', { exact: true }))
    .waitFor();

  // As on a page without HTTPS: the command is shown all the same.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await attempt.getByRole('button', { name: 'Copy as curl' }).click();
  const command = await attempt.getByRole('region', { name: 'curl command' }).textContent();
  await assertAccessible(page, 'the page of a delivery');
  const script = `curl() { printf '%s\\n' "$@"; }\n${command}`;
  const passed = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  assert.ok(passed.includes(`${endpoint.url}/hook\n`) && passed.includes(String(sent?.body)));
  assert.match(passed, /webhook-signature: v1,/);

  await page.getByRole('button', { name: 'Redeliver' }).click();
  const redelivery = page.getByRole('status', { name: 'Redelivery' });
  await redelivery.waitFor();
  await app.dispatcher.drain();
  await poll(page);
  await redelivery.getByText(/answered 500 in \d+ ms/).waitFor();
});

test('a test event shows its outcome where it was sent, and its request names the sender', async () => {
  const tenant = await createTenant(app);
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: endpoint.url, name: 'Ledger' });
  await app.dispatcher.drain();
  endpoint.behave({ kind: 'answer', status: 202, headers: { 'x-served-by': 'node-7' }, body: 'accepted' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto(`/subscriptions/${guid}`);
  await page.getByRole('button', { name: 'Send test event' }).click();
  const outcome = page.getByRole('status', { name: 'Test event' });
  await outcome.waitFor();
  await app.dispatcher.drain();
  await poll(page);
  await outcome.getByText(/answered 202 in \d+ ms/).waitFor();
  await outcome.getByText('Delivered', { exact: true }).waitFor();
  await outcome.getByRole('link', { name: 'View delivery' }).click();
  const attempt = page.getByRole('region', { name: 'Attempt 1' });
  await attempt.getByText('node-7').waitFor();
  await attempt.getByText('accepted').waitFor();
  assert.equal(await attempt.getByText('Automatic').count(), 0);
});

test('events show how many of their deliveries arrived, and are found by state and subscription', async () => {
  const tenant = await createTenant(app);
  const [healthy, failing] = [await createTestEndpoint(), await createTestEndpoint()];
  await createSubscription(app, tenant, { url: healthy.url, name: 'Ledger' });
  await createSubscription(app, tenant, { url: failing.url, name: 'Old ledger' });
  await app.dispatcher.drain();
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
  failing.behave({ kind: 'answer', status: 500 });
  await publishEvents(app, tenant, [{ event_type: 'trade.failed' }]);
  await app.dispatcher.drain();
  await pass(15_000, [app]);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  await page.goto('/events');
  const row = (type: string) => page.getByRole('row', { name: new RegExp(type.replace('.', '\\.')) });
  await row('transfer.completed').getByText('2 of 2 delivered').waitFor();
  await row('trade.failed').getByText('1 of 2 delivered').waitFor();
  await page.getByRole('combobox', { name: 'Delivery' }).click();
  await page.getByRole('option', { name: 'Retrying' }).click();
  await row('transfer.completed').waitFor({ state: 'detached' });
  await row('trade.failed').waitFor();
  assert.match(page.url(), /delivery_state=failing/);
  await page.getByRole('combobox', { name: 'Subscription' }).click();
  await page.getByRole('option', { name: 'Ledger', exact: true }).click();
  await page.getByText('No events match these filters').waitFor();
  await navigate(page, '/events');
  await row('trade.failed').waitFor();
  await assertAccessible(page, 'events with their deliveries');

  await navigate(page, '/deliveries?state=failing');
  await page.getByRole('row', { name: /trade\.failed.*Old ledger.*Retrying/ }).waitFor();
  await assertAccessible(page, 'deliveries of all endpoints');
  await page.getByRole('combobox', { name: 'Subscription' }).click();
  await page.getByRole('option', { name: 'Ledger', exact: true }).click();
  await page.getByText('Only deliveries in sandbox are listed.').waitFor();
});
