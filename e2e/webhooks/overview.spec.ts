import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { countDeliveries, countEvents } from '../../testing/webhooks/counters.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { pass } from '../../testing/webhooks/webhooks.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The overview polls every 15 seconds. */
const POLL_MS = 16_000;
/** The clock of the page goes on until it is paused, and can be paused only at a later time. */
const PAUSE_AFTER_MS = 60_000;
const SCRIPT_LIMIT_BYTES = 300 * 1024;
const STATISTICS = '**/api/delivery_statistics*';
const ERROR = {
  status: 400,
  json: { error: 'bad_request', message_code: 'invalid_parameter', message: 'Statistics unavailable' },
};

const chart = (page: Page, label: string) => page.getByRole('slider', { name: label });
const labels = (page: Page, label: string) => chart(page, label).locator('text').allTextContents();
const totalOf = (page: Page, label: string) => page.getByRole('figure', { name: label }).getByRole('list');

/** Statistics of now, 30 minutes, 20 hours and 5 days ago. */
async function createStatistics() {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant, { url: (await createTestEndpoint()).url });
  await app.dispatcher.drain();
  await app.database.queries.deleteFrom('delivery_counters').where('subscription_guid', '=', guid).execute();
  for (const [agoMs, completed, failed] of [
    [0, 7, 1],
    [30 * MINUTE_MS, 40, 2],
    [20 * HOUR_MS, 3_000, 0],
    [5 * 24 * HOUR_MS, 26_000, 50],
  ] as const) {
    await countDeliveries(app, guid, agoMs, { completed, failed });
    await countEvents(app, tenant, 'sandbox', agoMs, completed + failed);
  }
  return tenant;
}

test('the charts show an hour, a day and a week, and can be read by pointer and keyboard', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createStatistics(), 'founder');
  await page.goto('/overview?range=1h');
  await totalOf(page, 'Attempts').getByText('Successful47').waitFor();
  await totalOf(page, 'Attempts').getByText('Unsuccessful3').waitFor();
  await totalOf(page, 'Events').getByText('Events50').waitFor();
  const attempts = chart(page, 'Attempts per minute');
  const readingOf = () => attempts.getAttribute('aria-valuetext');
  await attempts.focus();
  assert.match(String(await readingOf()), /^\w{3} \d+, \d\d:\d\d: Successful 7, Unsuccessful 1$/);
  for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowLeft');
  assert.match(String(await readingOf()), /: Successful 40, Unsuccessful 2$/);
  await page.keyboard.press('Home');
  assert.match(String(await readingOf()), /: Successful 0, Unsuccessful 0$/);
  const box = await chart(page, 'Events per minute').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width - 2, box.y + 40);
  await chart(page, 'Events per minute').getByText('Events8', { exact: true }).waitFor();

  await page.getByText('24 h', { exact: true }).click();
  await totalOf(page, 'Attempts').getByText('Successful3,047').waitFor();
  const day = await labels(page, 'Events per 15 minutes');
  assert.ok(!day.includes('24:00') && !day.includes('00:00'), day.join());
  assert.ok(
    day.some((label) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+$/.test(label)),
    day.join(),
  );
  assert.deepEqual(day.slice(0, 4), ['0', '1,000', '2,000', '3,000']);

  await page.getByText('7 days', { exact: true }).click();
  await totalOf(page, 'Attempts').getByText('Successful29,047').waitFor();
  const week = await labels(page, 'Attempts per 2 hours');
  assert.deepEqual(week.slice(0, 4), ['0', '10K', '20K', '30K']);
  // In the last two hours of a day the chart begins and ends at midnight.
  const midnights = app.clock.now().getUTCHours() >= 22 ? 8 : 7;
  assert.equal(week.filter((label) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+$/.test(label)).length, midnights);
});

test('the overview loads less than 300 KB of scripts', async () => {
  // A new context: the others may have the scripts in their HTTP cache.
  const page = await pages.openWith({});
  await enterAs(page, site, await createStatistics(), 'founder');
  const scripts: Request[] = [];
  page.on('requestfinished', (request) => {
    if (request.url().endsWith('.js')) scripts.push(request);
  });
  await page.goto('/overview');
  await chart(page, 'Attempts').locator('path').first().waitFor();
  const sizes = await Promise.all(scripts.map((request) => request.sizes()));
  const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
  await page.close();
  assert.ok(sizes.length > 2 && bytes > 0, 'scripts were measured');
  assert.ok(bytes < SCRIPT_LIMIT_BYTES, `${bytes} bytes`);
});

test('statistics can be reloaded after an error, and stay visible when a refresh fails', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createStatistics(), 'viewer');
  await page.route(STATISTICS, (route) => route.fulfill(ERROR));
  await page.goto('/overview');
  await page.getByText('Statistics unavailable').waitFor();
  assert.equal(await chart(page, 'Attempts').count(), 0);
  // The page also loads them again by itself every few seconds, which would remove the button.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + PAUSE_AFTER_MS);
  await page.unroute(STATISTICS);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.clock.resume();
  await totalOf(page, 'Attempts').getByText('Successful3,047').waitFor();

  await page.route(STATISTICS, (route) => route.fulfill(ERROR));
  await poll(page, POLL_MS);
  await page.getByText('Could not refresh the statistics').waitFor();
  await totalOf(page, 'Attempts').getByText('Successful3,047').waitFor();
});

test('an Organization without endpoints sees empty charts, and a setup link if the role allows it', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  for (const role of ['founder', 'viewer'] as const) {
    await enterAs(page, site, tenant, role);
    await page.goto('/overview');
    await page.getByText('No attempts in this period').waitFor();
    await page.getByText('No events in this period').waitFor();
    await page.getByRole('heading', { name: 'No endpoints in sandbox yet' }).waitFor();
    const links = await page.getByRole('link', { name: 'Set up webhooks' }).count();
    assert.equal(links, role === 'founder' ? 1 : 0);
  }
});

test('a failing endpoint appears by name without a reload, for every role', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  await app.dispatcher.drain();
  const [founder, viewer] = [await pages.open(), await pages.open()];
  for (const [page, role] of [
    [founder, 'founder'],
    [viewer, 'viewer'],
  ] as const) {
    await enterAs(page, site, tenant, role);
    await page.goto('/overview');
    await chart(page, 'Attempts').waitFor();
    assert.equal(await page.getByText('1 endpoint is failing').count(), 0);
  }
  receiver.behave({ kind: 'answer', status: 503 });
  await publishEvents(app, tenant);
  await pass(20_000, [app]);
  for (const page of [founder, viewer]) {
    await poll(page, POLL_MS);
    await page.getByText('1 endpoint is failing').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Ledger' }).waitFor();
    await page
      .getByRole('alert')
      .getByText(/answers 503 since \d\d:\d\d · 1 waiting · next attempt/)
      .waitFor();
  }
});

test('an error of the endpoint status is shown', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createStatistics(), 'viewer');
  await page.route('**/api/endpoint_health?*', (route) => route.fulfill(ERROR));
  await page.goto('/overview');
  await page.getByText('Could not load endpoint status').waitFor();
  await page.getByRole('alert').getByText('Statistics unavailable').waitFor();
  await totalOf(page, 'Attempts').getByText('Successful3,047').waitFor();
});
