import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { publishEvents } from '../testing/events.ts';
import { untilWatched } from '../testing/live.ts';
import { createReceiver } from '../testing/receiver.ts';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible, assertFits } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter } from './support/people.ts';
import { createSamples, createTeam } from './support/samples.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();
const tenant = await createTenant(app);
const receiver = await createReceiver();
receiver.behave({ kind: 'answer', status: 500, body: 'not today' });
const answering = await createReceiver();
await createSubscription(app, tenant, { url: answering.url, name: 'Ledger' });
const { guid } = await createSubscription(app, tenant, { url: receiver.url, name: 'Payments backend' });
await app.dispatcher.settle();
const founder = await createTeam(site, tenant);
await createSamples(site, tenant);
const [eventGuid] = await publishEvents(app, tenant);
await app.dispatcher.settle();
/** Attempts are told of a few times a second. */
const TOLD_AFTER_MS = 1_000;

/** Something to see where only what happens now is shown. */
async function makeAttempts(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  await publishEvents(app, tenant);
  await app.dispatcher.settle();
  app.clock.advance(TOLD_AFTER_MS);
}

/** Each page with what has to be there before it is looked at, and what makes it so. */
const PAGES: readonly (readonly [path: string, text: string, prepare?: (page: Page) => Promise<void>])[] = [
  ['/overview', 'Payments backend'],
  ['/keys', 'Any address'],
  ['/subscriptions', 'Payments backend'],
  [`/subscriptions/${guid}`, 'answered 500'],
  ['/events?banks=all', 'subscription.storing'],
  [`/events/${eventGuid}`, 'Ledger'],
  ['/live', 'transfer.completed', makeAttempts],
  ['/files', 'passport.png'],
  ['/sandbox', 'reviewing'],
  ['/team', 'grace@acme.test'],
  ['/audit', 'subscription.create'],
  ['/account', 'Laptop'],
  ['/onboarding', 'Continue with Bank'],
];

for (const colorScheme of ['light', 'dark'] as const)
  test(`every page has no serious violation, and fits a phone (${colorScheme})`, async () => {
    const page = await pages.open({ colorScheme });
    await enter(page, site, founder);
    for (const [path, text, prepare] of PAGES) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(path);
      await prepare?.(page);
      await page.getByText(text, { exact: true }).first().waitFor();
      await assertAccessible(page, path);
      await page.setViewportSize({ width: 380, height: 800 });
      await assertFits(page, path);
    }
  });

test('dialogs have no serious violation either, and keep the focus', async () => {
  const page = await pages.open();
  await enter(page, site, founder);
  for (const [path, button] of [
    ['/keys', 'Generate bank key'],
    ['/subscriptions', 'Create Webhook Subscription'],
    [`/subscriptions/${guid}`, 'Roll signing key'],
    [`/subscriptions/${guid}`, 'Attempts'],
    ['/events', 'Recover'],
    ['/sandbox', 'Create transfer'],
    ['/team', 'Invite'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').waitFor();
    await assertAccessible(page, `${path}: ${button}`);
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') !== null);
  }
});
