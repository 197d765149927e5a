import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createKey, createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { TOLD_AFTER_MS, untilWatched } from '../../testing/webhooks/live.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { codesOf, PROOF_MS } from '../support/authenticator.ts';
import { assertNothingCutOff } from '../support/layout.ts';
import { allowCurrentAddress, takeSecret } from '../support/one-time-secrets.ts';
import { navigate, poll } from '../support/pages.ts';
import { enter, enterAs } from '../support/people.ts';
import { createSamples, createTeam, LONG_NAME } from '../support/samples.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();
const tenant = await createTenant(app);
await app.operate('PATCH', `/banks/${tenant.bankGuid}`, { name: LONG_NAME });
const failing = await createTestEndpoint();
const failingName = LONG_NAME.replaceAll('x', 'y');
failing.behave({ kind: 'answer', status: 500, body: `unavailable ${'x'.repeat(1_000)}` });
const healthy = await createTestEndpoint();
await createSubscription(app, tenant, { url: healthy.url, name: 'Ledger' });
const { guid } = await createSubscription(app, tenant, {
  url: `${failing.url}?token=${LONG_NAME}`,
  name: failingName,
});
await createKey(app, `/organizations/${tenant.organizationGuid}/applications`, { name: LONG_NAME });
await app.dispatcher.drain();
const founder = await createTeam(site, tenant);
await createSamples(site, tenant);
const [eventGuid] = await publishEvents(app, tenant, [{ event_type: 'external_bank_account.completed' }]);
await app.dispatcher.drain();
await app.requestRecorder.flush();

/** A test of all of them would take a busy machine longer than a file may be silent. */
const PER_TEST = 5;

/** The items for one test each, with their numbers: "1 to 5". */
function partsOf<Item>(items: readonly Item[]): (readonly [part: string, some: readonly Item[]])[] {
  const starts = items.keys().filter((index) => index % PER_TEST === 0);
  return [...starts].map((start) => {
    const some = items.slice(start, start + PER_TEST);
    return [`${start + 1} to ${start + some.length}`, some];
  });
}

/** Makes attempts while the live page is open. */
async function makeAttempts(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await untilWatched(app);
  await publishEvents(app, tenant);
  await app.dispatcher.drain();
  app.clock.advance(TOLD_AFTER_MS);
}

/** Each page with a text that appears when it has loaded. */
const PAGES: readonly (readonly [path: string, text: string, prepare?: (page: Page) => Promise<void>])[] = [
  ['/overview', failingName],
  ['/keys', 'Any address'],
  ['/subscriptions', failingName],
  [`/subscriptions/${guid}`, 'HTTP 500'],
  ['/events?banks=all', 'subscription.storing'],
  [`/events/${eventGuid}`, 'Ledger'],
  ['/deliveries', 'external_bank_account.completed'],
  ['/requests', 'POST /api/files'],
  ['/live', 'transfer.completed', makeAttempts],
  ['/files', 'passport.png'],
  ['/sandbox', 'reviewing'],
  ['/organization', 'A production bank exists'],
  ['/team', 'grace@acme.test'],
  ['/audit', 'subscription.create'],
  ['/account', 'Laptop'],
  ['/alerts/settings', failingName],
];

for (const [part, some] of partsOf(PAGES))
  test(`all pages are accessible in both themes and fit phones, tablets and laptops (${part})`, async () => {
    const page = await pages.open();
    await enter(page, site, founder);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const [path, text, prepare] of some) {
      await navigate(page, path);
      await prepare?.(page);
      await page.getByText(text, { exact: true }).first().waitFor();
      await assertAccessible(page, path);
      await assertNothingCutOff(page, path);
    }
  });

test('all steps of the onboarding are accessible', async () => {
  const page = await pages.open();
  // A member without passkey, for whom the login is a recent proof.
  await enterAs(page, site, tenant, 'founder');
  const check = (what: string) => assertAccessible(page, `onboarding: ${what}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await page.goto('/onboarding');
  await page.getByRole('button', { name: /^Sandbox bank/ }).click();
  await page.getByRole('button', { name: `Continue with ${LONG_NAME}` }).waitFor();
  await check('bank');
  await press(`Continue with ${LONG_NAME}`);
  await page.getByLabel('Allowed address 1').fill('10.1.2.3');
  await page.getByText(/private/).waitFor();
  await check('key with an invalid address');
  await page.getByLabel('Allowed address 1').fill('');
  await allowCurrentAddress(page);
  await press('Generate bank key');
  await page.locator('[data-secret=client_secret]').waitFor();
  await check('secret of the key');
  await takeSecret(page, 'client_secret', 'Continue');
  await page.getByLabel('URL').fill(`${healthy.url}/onboarding`);
  await page.getByLabel('Name').fill('From the onboarding');
  await check('subscription');
  await press('Create another');
  await page.locator('[data-secret=signing_key]').waitFor();
  await check('signing key');
  await takeSecret(page, 'signing_key', 'Continue');
  await press('Send test event');
  await page.getByRole('button', { name: 'Send another' }).waitFor();
  await app.dispatcher.drain();
  await poll(page);
  await page.getByText('Delivered.').waitFor();
  await check('test event');
  await press('Continue');
  await page.getByRole('region', { name: 'command' }).waitFor();
  await check('first call');
});

/** Path, button and menu item that open each dialog. */
const DIALOGS: readonly (readonly [path: string, button: string, item?: string])[] = [
  ['/keys', 'Generate bank key'],
  ['/keys', 'Actions for Key', 'Edit'],
  ['/keys', 'Actions for Key', 'Rotate'],
  ['/keys', 'Actions for Key', 'Delete'],
  ['/subscriptions', 'Create Webhook Subscription'],
  [`/subscriptions/${guid}`, 'Rename'],
  [`/subscriptions/${guid}`, 'Roll signing key'],
  [`/subscriptions/${guid}`, 'Delete'],
  [`/subscriptions/${guid}`, 'Attempts'],
  ['/events', 'Redeliver events'],
  ['/sandbox', 'Create transfer'],
  ['/team', 'Invite'],
  ['/team', 'Actions for grace@acme.test', 'Change role'],
  ['/team', 'Actions for grace@acme.test', 'Remove'],
];

for (const [part, some] of partsOf(DIALOGS))
  test(`all dialogs are accessible, trap the focus and return it to their button (${part})`, async () => {
    const page = await pages.open();
    await enter(page, site, founder);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const dialog = page.getByRole('dialog');
    for (const [path, button, item] of some) {
      await navigate(page, path);
      const opener = page.getByRole('button', { name: button }).first();
      await opener.click();
      if (item !== undefined) await page.getByRole('menuitem', { name: item }).click();
      await dialog.waitFor();
      await assertAccessible(page, `${path}: ${button}, ${item}`);
      await page.keyboard.press('Tab');
      await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') !== null);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.waitForFunction(
        (element) => element === document.activeElement,
        await opener.elementHandle(),
      );
    }
  });

test('the menus and the navigation on a phone are accessible', async () => {
  const page = await pages.open();
  await page.setViewportSize({ width: 380, height: 800 });
  await enter(page, site, founder);
  await page.goto('/overview');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Team' }).waitFor();
  await assertAccessible(page, 'navigation');
  await page.getByRole('button', { name: 'Close menu' }).click();
  await page.getByRole('button', { name: `Account: ${LONG_NAME}` }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
  await assertAccessible(page, 'account menu');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Bank: ${LONG_NAME}` }).click();
  await page.getByRole('option', { name: LONG_NAME }).waitFor();
  await assertAccessible(page, 'bank selector');
  await page.keyboard.press('Escape');
  await navigate(page, '/keys');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
  await assertAccessible(page, 'menu of a key');
});

test('the account dialogs and the identity dialog are accessible', async () => {
  const page = await pages.open();
  await enter(page, site, founder);
  await page.goto('/account');
  const dialog = page.getByRole('dialog');
  const check = (what: string) => assertAccessible(page, `account: ${what}`);
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await check('remove passkey');
  await press('Remove');
  await dialog.getByRole('button', { name: 'Use a passkey' }).waitFor();
  assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0);
  await check('proof by passkey');
  await press('Close');
  await press('Cancel');

  await page.getByRole('button', { name: 'Add passkey' }).click();
  await check('add passkey');
  await press('Close');

  const { password } = await enterAs(page, site, tenant, 'founder');
  await page.reload();
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Set up' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Confirm');
  await dialog.getByRole('alert').waitFor();
  await check('rejected proof');
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await press('Confirm');
  const code = codesOf(app, await dialog.locator('[data-totp-secret]').textContent());
  await check('set up authenticator app');
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code());
  await press('Turn on');
  await dialog.locator('[data-secret=recovery_codes]').waitFor();
  await check('recovery codes');
  await takeSecret(dialog, 'recovery_codes', 'Done');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Turn off');
  await dialog.getByRole('alert').waitFor();
  await check('turn off authenticator app');
  await press('Cancel');

  await page.getByLabel('New password', { exact: true }).fill('short');
  await page.getByLabel('Confirm new password').fill('other');
  await page.getByLabel('Current password').fill('not the password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Passwords do not match').waitFor();
  await check('rejected password');
});
