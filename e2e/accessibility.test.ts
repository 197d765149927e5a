import { test } from 'node:test';
import { createReceiver } from '../testing/receiver.ts';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible, assertFits } from './support/accessibility.ts';
import { playAgreedApi } from './support/agreed-api.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { sampleHandlers } from './support/samples.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();
const tenant = await createTenant(app);
const receiver = await createReceiver();
receiver.behave({ kind: 'answer', status: 500, body: 'not today' });
const { guid } = await createSubscription(app, tenant, { url: receiver.url, name: 'Payments backend' });
await app.dispatcher.settle();

/** Each page with what has to be there before it is looked at. */
const PAGES: readonly (readonly [path: string, text: string])[] = [
  ['/overview', 'Payments backend'],
  ['/keys', 'Any address'],
  ['/subscriptions', 'Payments backend'],
  [`/subscriptions/${guid}`, 'answered 500'],
  ['/events?banks=all', 'subscription.storing'],
  ['/live', 'transfer.completed'],
  ['/files', 'passport-0.jpg'],
  ['/sandbox', 'reviewing'],
  ['/team', 'Ada Lovelace'],
  ['/audit', 'subscription.create'],
  ['/account', 'Laptop'],
  ['/onboarding', 'Continue with Bank'],
];

for (const colorScheme of ['light', 'dark'] as const)
  test(`every page has no serious violation, and fits a phone (${colorScheme})`, async () => {
    const page = await pages.open({ colorScheme });
    await playAgreedApi(page, site, { tenant, role: 'founder' }, sampleHandlers(tenant, guid));
    for (const [path, text] of PAGES) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(path);
      await page.getByText(text, { exact: true }).first().waitFor();
      await assertAccessible(page, path);
      await page.setViewportSize({ width: 380, height: 800 });
      await assertFits(page, path);
    }
  });

test('dialogs have no serious violation either, and keep the focus', async () => {
  const page = await pages.open();
  await playAgreedApi(page, site, { tenant, role: 'founder' }, sampleHandlers(tenant, guid));
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
