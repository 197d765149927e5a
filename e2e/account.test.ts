import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { browse, browserOf, joinTeam, logIn, PASSWORD, type Person } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { addAuthenticator, codesOf, PROOF_MS, TOTP_STEP_MS } from './support/authenticator.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter, fillLogin, logOut } from './support/people.ts';
import { assertHeld, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
const { organizationGuid } = await createTenant(app);

async function atAccount(): Promise<{ page: Page; person: Person }> {
  const page = await pages.open();
  const person = await joinTeam(app, organizationGuid);
  await enter(page, site, person);
  await page.goto('/account');
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
  return { page, person };
}

test('a passkey is added after a proof, logs in, proves who is there, and is removed', async () => {
  const { page } = await atAccount();
  await addAuthenticator(page);
  const dialog = page.getByRole('dialog');
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog.getByLabel('Name').fill('Laptop');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await dialog.getByText('The current password is incorrect').waitFor();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Laptop', { exact: true }).waitFor();

  await logOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();

  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByRole('button', { name: 'Use a passkey' }).waitFor();
  assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0);
  await dialog.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('None yet.').waitFor();
  await logOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('That did not match').waitFor();
});

test('whoever closes the question instead of answering it changes nothing', async () => {
  const { page, person } = await atAccount();
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Set up' }).waitFor();
  const session = await browse(app, 'GET', '/session', { as: person });
  assert.equal((session.body.member as { has_totp: boolean }).has_totp, false);
});

/** Opens the dialog; the answer is what the app shows from now on. */
async function beginTotp(page: Page): Promise<() => string> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Set up' }).click();
  await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  const code = codesOf(app, await dialog.locator('[data-totp-secret]').textContent());
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code());
  return code;
}

/** To its end: what the app shows from now on, and the recovery codes. */
async function setUpTotp(page: Page): Promise<{ code: () => string; recoveryCodes: string[] }> {
  const dialog = page.getByRole('dialog');
  const code = await beginTotp(page);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  const recoveryCodes = (await takeSecret(dialog, 'recovery_codes', 'Done')).split('\n');
  await page.getByText('On', { exact: true }).waitFor();
  return { code, recoveryCodes };
}

test('an authenticator app is set up, its codes log in, its recovery codes too, and it is turned off', async () => {
  const { page, person } = await atAccount();
  const dialog = page.getByRole('dialog');
  const { code, recoveryCodes } = await setUpTotp(page);
  assert.equal(recoveryCodes.length, 10);

  for (const next of [() => code(), () => recoveryCodes[0] ?? '']) {
    app.clock.advance(TOTP_STEP_MS);
    await logOut(page);
    await fillLogin(page, person);
    await page.getByLabel('Code').fill(next());
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Account and security' }).waitFor();
  }

  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
  await dialog.getByLabel('Code').fill(code());
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
});

test('while an authenticator app is turned on nothing closes the dialog, and its recovery codes are shown', async () => {
  const page = await pages.open();
  await enter(page, site, await joinTeam(app, organizationGuid));
  await page.goto('/overview');
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Account and security' }).click();
  await beginTotp(page);
  const dialog = page.getByRole('dialog');
  await assertHeld(page, {
    path: '/dashboard/account/totp/confirm',
    secret: 'recovery_codes',
    submit: () => dialog.getByRole('button', { name: 'Turn on' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('On', { exact: true }).waitFor();
});

test('who has an authenticator app is asked for a code of it, not for the password', async () => {
  const { page } = await atAccount();
  const dialog = page.getByRole('dialog');
  const { code } = await setUpTotp(page);
  await addAuthenticator(page);
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog.getByLabel('Name').fill('Phone');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByLabel('Code').waitFor();
  assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0);
  await dialog.getByLabel('Code').fill(code());
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Phone', { exact: true }).waitFor();
});

test('a session that is ended here is over elsewhere, and whoever was there is led to the login', async () => {
  const { page, person } = await atAccount();
  const elsewhere = await pages.open();
  await enter(elsewhere, site, person);
  await elsewhere.goto('/keys');
  await elsewhere.getByRole('heading', { name: 'API keys' }).waitFor();

  await page.reload();
  const ends = page.getByRole('button', { name: 'End' });
  // The one by which the person came onto the team, and the one elsewhere.
  await ends.nth(1).waitFor();
  await ends.first().click();
  await ends.nth(1).waitFor({ state: 'detached' });
  await ends.first().click();
  await ends.first().waitFor({ state: 'detached' });
  await page.getByText('This one').waitFor();

  await elsewhere.getByRole('link', { name: 'Team' }).click();
  await elsewhere.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a changed password ends every other session and keeps this one', async () => {
  const { page, person } = await atAccount();
  const elsewhere = browserOf(await logIn(app, person));
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('a brand new password');
  await page.getByLabel('New password again').fill('another new password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The two are not the same').waitFor();
  await page.getByLabel('New password again').fill('a brand new password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed').waitFor();
  assert.equal((await browse(app, 'GET', '/session', { as: elsewhere })).status, 401);
  await page.reload();
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
});
