import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { browse, browserOf, joinTeam, logIn, PASSWORD, type Person } from '../../testing/people/dashboard.ts';
import { addAuthenticator, codesOf, PROOF_MS, TOTP_STEP_MS } from '../support/authenticator.ts';
import { assertDialogStaysOpen, takeSecret } from '../support/one-time-secrets.ts';
import { enter, logOut, submitLogin } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const { organizationGuid } = await createTenant(app);

async function openAccount(): Promise<{ page: Page; person: Person }> {
  const page = await pages.open();
  const person = await joinTeam(app, organizationGuid);
  await enter(page, site, person);
  await page.goto('/account');
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
  return { page, person };
}

test('a passkey can be added, used to log in, used as proof and removed', async () => {
  const { page } = await openAccount();
  await addAuthenticator(page);
  const dialog = page.getByRole('dialog');
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await dialog.getByLabel('Name').fill('Laptop');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('dialog', { name: 'Confirm your identity' }).waitFor();
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
  await page.getByText('No passkeys yet.').waitFor();
  await logOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Email or password is incorrect').waitFor();
});

test('closing the identity dialog changes nothing', async () => {
  const { page, person } = await openAccount();
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog', { name: 'Confirm your identity' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Set up' }).waitFor();
  const session = await browse(app, 'GET', '/session', { as: person });
  assert.equal((session.body.member as { has_totp: boolean }).has_totp, false);
});

/** Opens the dialog and enters a code. Returns a generator of further codes. */
async function beginTotp(page: Page): Promise<() => string> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Set up' }).click();
  await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  const code = codesOf(app, await dialog.locator('[data-totp-secret]').textContent());
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code());
  return code;
}

async function setUpTotp(page: Page): Promise<{ code: () => string; recoveryCodes: string[] }> {
  const dialog = page.getByRole('dialog');
  const code = await beginTotp(page);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  const recoveryCodes = (await takeSecret(dialog, 'recovery_codes', 'Done')).split('\n');
  await page.getByText('On', { exact: true }).waitFor();
  return { code, recoveryCodes };
}

test('an authenticator app can be set up, used to log in and turned off, and recovery codes log in', async () => {
  const { page, person } = await openAccount();
  const dialog = page.getByRole('dialog');
  const { code, recoveryCodes } = await setUpTotp(page);
  assert.equal(recoveryCodes.length, 10);

  for (const next of [() => code(), () => recoveryCodes[0] ?? '']) {
    app.clock.advance(TOTP_STEP_MS);
    await logOut(page);
    await submitLogin(page, person);
    await page.getByLabel('Code').fill(next());
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Account and security' }).waitFor();
  }

  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog', { name: 'Confirm your identity' }).waitFor();
  await dialog.getByLabel('Code').fill(code());
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
});

test('the authenticator dialog stays open until the recovery codes are confirmed', async () => {
  const page = await pages.open();
  await enter(page, site, await joinTeam(app, organizationGuid));
  await page.goto('/overview');
  await page.getByRole('button', { name: /^Account:/ }).click();
  await page.getByRole('menuitem', { name: 'Account and security' }).click();
  await beginTotp(page);
  const dialog = page.getByRole('dialog');
  await assertDialogStaysOpen(page, {
    path: '/dashboard/account/totp/confirm',
    secret: 'recovery_codes',
    submit: () => dialog.getByRole('button', { name: 'Turn on' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('On', { exact: true }).waitFor();
});

test('members with an authenticator app prove their identity with a code, not the password', async () => {
  const { page } = await openAccount();
  const dialog = page.getByRole('dialog');
  const { code } = await setUpTotp(page);
  await addAuthenticator(page);
  app.clock.advance(PROOF_MS);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await dialog.getByLabel('Name').fill('Phone');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByLabel('Code').waitFor();
  assert.equal(await dialog.getByLabel('Password', { exact: true }).count(), 0);
  await dialog.getByLabel('Code').fill(code());
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Phone', { exact: true }).waitFor();
});

test('ending a session logs the other browser out', async () => {
  const { page, person } = await openAccount();
  const other = await pages.open();
  await enter(other, site, person);
  await other.goto('/keys');
  await other.getByRole('heading', { name: 'API keys' }).waitFor();

  await page.reload();
  const ends = page.getByRole('button', { name: 'End session' });
  // One session of the invitation, and one of the other browser.
  await ends.nth(1).waitFor();
  await ends.first().click();
  await ends.nth(1).waitFor({ state: 'detached' });
  await ends.first().click();
  await ends.first().waitFor({ state: 'detached' });
  await page.getByText('This session').waitFor();

  await other.getByRole('link', { name: 'Team' }).click();
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('changing the password ends all other sessions', async () => {
  const { page, person } = await openAccount();
  const other = browserOf(await logIn(app, person));
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('a brand new password');
  await page.getByLabel('Confirm new password').fill('another new password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Passwords do not match').waitFor();
  await page.getByLabel('Confirm new password').fill('a brand new password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Password changed').waitFor();
  assert.equal((await browse(app, 'GET', '/session', { as: other })).status, 401);
  await page.reload();
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
});
