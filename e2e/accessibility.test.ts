import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { publishEvents } from '../testing/events.ts';
import { TOLD_AFTER_MS, untilWatched } from '../testing/live.ts';
import { createSubscription } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { assertAccessible } from './support/accessibility.ts';
import { codesOf, PROOF_MS } from './support/authenticator.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter, enterAs } from './support/people.ts';
import { createSamples, createTeam } from './support/samples.ts';
import { allowCurrentAddress, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();
const tenant = await createTenant(app);
const receiver = await createTestEndpoint();
receiver.behave({ kind: 'answer', status: 500, body: 'not today' });
const answering = await createTestEndpoint();
await createSubscription(app, tenant, { url: answering.url, name: 'Ledger' });
const { guid } = await createSubscription(app, tenant, { url: receiver.url, name: 'Payments backend' });
await app.dispatcher.drain();
const founder = await createTeam(site, tenant);
await createSamples(site, tenant);
const [eventGuid] = await publishEvents(app, tenant);
await app.dispatcher.drain();

/** Something to see where only what happens now is shown. */
async function makeAttempts(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
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
];

test('no page has a serious violation in either theme, and each fits a phone', async () => {
  const page = await pages.open();
  await enter(page, site, founder);
  for (const [path, text, prepare] of PAGES) {
    await page.goto(path);
    await prepare?.(page);
    await page.getByText(text, { exact: true }).first().waitFor();
    await assertAccessible(page, path);
  }
});

test('nor has any step of the wizard', async () => {
  const page = await pages.open();
  // Without a passkey: the login by password is a proof.
  await enterAs(page, site, tenant, 'founder');
  const look = (what: string) => assertAccessible(page, `the wizard: ${what}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await page.goto('/onboarding');
  await page.getByRole('button', { name: 'Continue with Bank' }).waitFor();
  await look('bank');
  await press('Continue with Bank');
  await page.getByLabel('Allowed address 1').fill('10.1.2.3');
  await page.getByText('is private').waitFor();
  await look('key, with an address that is refused');
  await page.getByLabel('Allowed address 1').fill('');
  await allowCurrentAddress(page);
  await press('Generate bank key');
  await page.locator('[data-secret=client_secret]').waitFor();
  await look('the secret of the key');
  await takeSecret(page, 'client_secret', 'Continue');
  await page.getByLabel('URL').fill(`${answering.url}/wizard`);
  await page.getByLabel('Name').fill('From the wizard');
  await look('subscription');
  await press('Create another');
  await page.locator('[data-secret=signing_key]').waitFor();
  await look('the signing key');
  await takeSecret(page, 'signing_key', 'Continue');
  await press('Send the test event');
  await page.getByRole('button', { name: 'Send another' }).waitFor();
  await app.dispatcher.drain();
  await page.getByText('It arrived.').waitFor();
  await look('test event');
  await press('Continue');
  await page.getByRole('region', { name: 'command' }).waitFor();
  await look('first call');
});

/** Each with the way to it. */
const DIALOGS: readonly (readonly [path: string, button: string, item?: string])[] = [
  ['/keys', 'Generate bank key'],
  ['/keys', 'Actions for Key', 'Edit'],
  ['/keys', 'Actions for Key', 'Rotate'],
  ['/keys', 'Actions for Key', 'Remove'],
  ['/subscriptions', 'Create Webhook Subscription'],
  [`/subscriptions/${guid}`, 'Rename'],
  [`/subscriptions/${guid}`, 'Roll signing key'],
  [`/subscriptions/${guid}`, 'Delete'],
  [`/subscriptions/${guid}`, 'Attempts'],
  ['/events', 'Recover'],
  ['/sandbox', 'Create transfer'],
  ['/team', 'Invite'],
  ['/team', 'Actions for grace@acme.test', 'Change role'],
  ['/team', 'Actions for grace@acme.test', 'Remove'],
];

test('nor has any dialog, and it keeps the focus', async () => {
  const page = await pages.open();
  await enter(page, site, founder);
  for (const [path, button, item] of DIALOGS) {
    await page.goto(path);
    await page.getByRole('button', { name: button }).first().click();
    if (item !== undefined) await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
    await assertAccessible(page, `${path}: ${button}, ${item}`);
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') !== null);
  }
});

test('nor have the menus, and the navigation of a phone', async () => {
  const page = await pages.open({ viewport: { width: 380, height: 800 } });
  await enter(page, site, founder);
  await page.goto('/overview');
  await page.getByRole('button', { name: 'Open the menu' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Team' }).waitFor();
  await assertAccessible(page, 'the navigation');
  await page.getByRole('button', { name: 'Close the menu' }).click();
  await page.getByRole('button', { name: 'Account of Ada Lovelace' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
  await assertAccessible(page, 'the menu of the account');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Bank: Bank' }).click();
  await page.getByRole('option', { name: 'Bank' }).waitFor();
  await assertAccessible(page, 'the banks');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).waitFor();
  await assertAccessible(page, 'the menu of a key');
});

test('nor have the dialogs of the account, and the question who is there', async () => {
  const page = await pages.open();
  await enter(page, site, founder);
  await page.goto('/account');
  const dialog = page.getByRole('dialog');
  const look = (what: string) => assertAccessible(page, `the account: ${what}`);
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await look('removing a passkey');
  await press('Remove');
  await dialog.getByRole('button', { name: 'Use a passkey' }).waitFor();
  assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0);
  await look('a proof by passkey');
  await press('Close');
  await press('Cancel');

  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await look('adding a passkey');
  await press('Close');

  const { password } = await enterAs(page, site, tenant, 'founder');
  await page.reload();
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Set up' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Confirm');
  await dialog.getByRole('alert').waitFor();
  await look('a proof that is refused');
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await press('Confirm');
  const code = codesOf(app, await dialog.locator('[data-totp-secret]').textContent());
  await look('setting up an authenticator app');
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code());
  await press('Turn on');
  await dialog.locator('[data-secret=recovery_codes]').waitFor();
  await look('recovery codes');
  await takeSecret(dialog, 'recovery_codes', 'Done');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Turn off');
  await dialog.getByRole('alert').waitFor();
  await look('turning an authenticator app off');
  await press('Cancel');

  await page.getByLabel('New password', { exact: true }).fill('short');
  await page.getByLabel('New password again').fill('other');
  await page.getByLabel('Current password').fill('not the password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The two are not the same').waitFor();
  await look('a password that is refused');
});
