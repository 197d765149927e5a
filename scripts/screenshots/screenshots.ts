import assert from 'node:assert/strict';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, prepareBrowser } from '../../e2e/support/browser.ts';
import { BOUNDED, createSite, type Running, waitFor } from '../../testing/app/serve.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { founderOf, type Made, makeData } from './screenshot-data.ts';
import { addDay } from './screenshot-day.ts';

/**
 * `npm run screenshots`: takes the pictures in `docs/images/` of the real service with its demo, on its own database.
 * It runs as a test to use the test helpers; `npm test` does not include it.
 */
const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'images');
const WINDOW = { width: 1280, height: 800 };
const PATIENCE_MS = 15_000;
/** Time for the last requests to finish and render; the page has no signal for it. */
const SETTLING_MS = 700;
/** Limit, because every clone contains the pictures. */
const MAX_PICTURE_BYTES = 200_000;

await prepareBrowser();

test('pictures of the dashboard', BOUNDED, async (t) => {
  const site = await createSite(t);
  const service = await site.serve();
  await waitFor('the welcome', service, () => service.out().includes('Ctrl-C'));
  const [healthy, failing] = [await createTestEndpoint(), await createTestEndpoint()];

  const browser = await launchBrowser();
  const context = await browser.newContext({
    baseURL: `http://localhost:${site.port}`,
    viewport: WINDOW,
    deviceScaleFactor: 1,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await logIn(page, service);
  const founder = await founderOf(context.request);
  const made = await makeData(founder, healthy, failing);
  await addDay(site.dataDir, Date.now(), { organization: founder.organization, ...made });

  await mkdir(FOLDER, { recursive: true });
  await takePictures(page, made);

  await page.goto('/live');
  await page.getByText('Live', { exact: true }).last().waitFor();
  const { bank: bank_guid, customer: customer_guid } = made;
  const transfer = { bank_guid, customer_guid, transfer_type: 'book', asset: 'USD', amount: 1_250 };
  await founder.create('/transfers', transfer);
  await page.getByRole('row', { name: /transfer\.completed Payments backend/ }).waitFor();
  await take(page, 'live');
});

async function logIn(page: Page, service: Running): Promise<void> {
  const shown = (label: string) => new RegExp(`^ {2}${label} +(\\S+)$`, 'm').exec(service.out())?.[1] ?? '';
  await page.goto('/');
  await page.getByLabel('Email').fill(shown('Founder'));
  await page.getByLabel('Password', { exact: true }).fill(shown('password'));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

async function takePictures(page: Page, { healthy, event }: Made): Promise<void> {
  const go = async (path: string, text: string) => {
    await page.goto(path);
    await page.getByText(text).first().waitFor();
  };
  await go('/overview?range=24h', 'Old ledger');
  await take(page, 'overview', { whole: true });
  await go('/keys', 'Reports');
  await take(page, 'keys');
  await go(`/subscriptions/${healthy}?range=24h`, 'trade.completed');
  await take(page, 'subscription');
  await go('/events', 'transfer.completed');
  await take(page, 'events');
  await go(`/events/${event}`, 'HTTP 503');
  const row = page.getByRole('row', { name: /Old ledger/ });
  await row.getByRole('button', { name: 'Attempts' }).click();
  await page.getByRole('dialog').getByText('The ledger is closed').first().waitFor();
  await take(page, 'event');
  await go('/files', 'passport.png');
  await take(page, 'files', { whole: true });
  await go('/sandbox', 'funding');
  await take(page, 'sandbox');
}

/** `whole`: the viewport is as high as the page, so that the navigation is complete. */
async function take(page: Page, name: string, { whole = false } = {}): Promise<void> {
  const height = whole ? await page.evaluate<number>('document.documentElement.scrollHeight') : WINDOW.height;
  await page.setViewportSize({ ...WINDOW, height });
  // Waits for fonts, charts and the last requests, not for network idle: the live stream never ends.
  await page.evaluate('document.fonts.ready');
  await page.waitForTimeout(SETTLING_MS);
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = await stat(path);
  assert.ok(size <= MAX_PICTURE_BYTES, `${name}.png has ${size} bytes`);
}
