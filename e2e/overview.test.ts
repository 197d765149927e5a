import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { countDeliveries, countEvents } from '../testing/counters.ts';
import { publishEvents } from '../testing/events.ts';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { pass } from '../testing/webhooks.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The overview asks again by itself every 15 seconds. */
const REFRESHED_MS = 16_000;
const SCRIPT_LIMIT_BYTES = 300 * 1024;
const STATISTICS = '**/api/delivery_statistics*';
const REFUSED = {
  status: 400,
  json: { error: 'bad_request', message_code: 'invalid_parameter', message: 'The figures are away' },
};

const chart = (page: Page, label: string) => page.getByRole('slider', { name: label });
const labels = (page: Page, label: string) => chart(page, label).locator('text').allTextContents();
const totalOf = (page: Page, label: string) => page.getByRole('figure', { name: label }).getByRole('list');

/** A subscription with figures of a moment ago, of half an hour, 20 hours and 5 days ago. */
async function createFigures() {
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

test('the charts show what the counters have, over an hour, a day and a week, to the pointer and to the keys', async () => {
  const page = await pages.open({ timezoneId: 'UTC' });
  await enterAs(page, site, await createFigures(), 'founder');
  await page.goto('/overview?range=1h');
  await totalOf(page, 'Attempts').getByText('Delivered47').waitFor();
  await totalOf(page, 'Attempts').getByText('Failed3').waitFor();
  await totalOf(page, 'Events').getByText('Events50').waitFor();
  const attempts = chart(page, 'Attempts per minute');
  const readingOf = () => attempts.getAttribute('aria-valuetext');
  await attempts.focus();
  assert.match(String(await readingOf()), /^\w{3} \d+, \d\d:\d\d: Delivered 7, Failed 1$/);
  for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowLeft');
  assert.match(String(await readingOf()), /: Delivered 40, Failed 2$/);
  await page.keyboard.press('Home');
  assert.match(String(await readingOf()), /: Delivered 0, Failed 0$/);
  const box = await chart(page, 'Events per minute').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width - 2, box.y + 40);
  await chart(page, 'Events per minute').getByText('Events8', { exact: true }).waitFor();

  await page.getByText('24 h', { exact: true }).click();
  await totalOf(page, 'Attempts').getByText('Delivered3,047').waitFor();
  const day = await labels(page, 'Events per 15 minutes');
  assert.ok(!day.includes('24:00') && !day.includes('00:00'), day.join());
  assert.ok(
    day.some((label) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+$/.test(label)),
    day.join(),
  );
  assert.deepEqual(day.slice(0, 4), ['0', '1,000', '2,000', '3,000']);

  await page.getByText('7 days', { exact: true }).click();
  await totalOf(page, 'Attempts').getByText('Delivered29,047').waitFor();
  const week = await labels(page, 'Attempts per 2 hours');
  assert.deepEqual(week.slice(0, 4), ['0', '10K', '20K', '30K']);
  // In the last two hours of a day the chart begins and ends at a midnight.
  const midnights = new Date().getUTCHours() >= 22 ? 8 : 7;
  assert.equal(week.filter((label) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+$/.test(label)).length, midnights);
});

test('everything that the overview loads is less than 300 KB of script', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createFigures(), 'founder');
  await page.goto('/overview');
  await chart(page, 'Attempts').locator('path').first().waitFor();
  const sizes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .map((entry) => (entry as PerformanceResourceTiming).encodedBodySize),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(sizes.length > 2 && bytes > 0, 'scripts were measured');
  assert.ok(bytes < SCRIPT_LIMIT_BYTES, `${bytes} bytes`);
});

test('figures that do not come are a failure with a way on, and those that cannot be refreshed stay', async () => {
  const page = await pages.open();
  await page.clock.install({ time: app.clock.now() });
  await enterAs(page, site, await createFigures(), 'viewer');
  await page.route(STATISTICS, (route) => route.fulfill(REFUSED));
  await page.goto('/overview');
  await page.getByText('The figures are away').waitFor();
  assert.equal(await chart(page, 'Attempts').count(), 0);
  await page.unroute(STATISTICS);
  await page.getByRole('button', { name: 'Try again' }).click();
  await totalOf(page, 'Attempts').getByText('Delivered3,047').waitFor();

  await page.route(STATISTICS, (route) => route.fulfill(REFUSED));
  await page.clock.fastForward(REFRESHED_MS);
  await page.getByText('The figures could not be refreshed').waitFor();
  await totalOf(page, 'Attempts').getByText('Delivered3,047').waitFor();
});

test('an Organization without an endpoint sees empty charts, and the way to its first where it may take it', async () => {
  const tenant = await createTenant(app);
  for (const role of ['founder', 'viewer'] as const) {
    const page = await pages.open();
    await enterAs(page, site, tenant, role);
    await page.goto('/overview');
    await page.getByText('Nothing was sent in this time').waitFor();
    await page.getByText('Nothing happened in this time').waitFor();
    await page.getByRole('heading', { name: 'Nothing listens in sandbox yet' }).waitFor();
    const ways = await page.getByRole('link', { name: 'Set up webhooks' }).count();
    assert.equal(ways, role === 'founder' ? 1 : 0);
  }
});

test('an endpoint that begins to fail appears by itself, by name or, for a Viewer, by its guid', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  await app.dispatcher.drain();
  const [founder, viewer] = [await pages.open(), await pages.open()];
  for (const [page, role] of [
    [founder, 'founder'],
    [viewer, 'viewer'],
  ] as const) {
    await page.clock.install({ time: app.clock.now() });
    await enterAs(page, site, tenant, role);
    await page.goto('/overview');
    await chart(page, 'Attempts').waitFor();
    assert.equal(await page.getByText('One endpoint is failing').count(), 0);
  }
  receiver.behave({ kind: 'answer', status: 503 });
  await publishEvents(app, tenant);
  await pass(20_000, [app]);
  for (const page of [founder, viewer]) {
    await page.clock.fastForward(REFRESHED_MS);
    await page.getByText('One endpoint is failing').waitFor();
  }
  await founder.getByRole('alert').getByRole('link', { name: 'Ledger' }).waitFor();
  await viewer.getByRole('alert').getByText(guid.slice(0, 8)).waitFor();
  await viewer.getByRole('alert').getByText('one delivery waits to be sent again').waitFor();
});

test('whether endpoints fail cannot be found out: that is said, not left empty', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createFigures(), 'viewer');
  await page.route('**/api/subscription_deliveries?*', (route) => route.fulfill(REFUSED));
  await page.goto('/overview');
  await page.getByText('Whether endpoints are failing is not known').waitFor();
  await page.getByRole('alert').getByText('The figures are away').waitFor();
  await totalOf(page, 'Attempts').getByText('Delivered3,047').waitFor();
});
