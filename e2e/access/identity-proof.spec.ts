import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { browse, joinTeam, PASSWORD, type Person } from '../../testing/people/dashboard.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { addAuthenticator, codesOf, PROOF_MS, TOTP_STEP_MS } from '../support/authenticator.ts';
import { fillKeyForm } from '../support/keys.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { returnToTab, watchForText } from '../support/pages.ts';
import { enter, enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const proofDialogOf = (page: Page) => page.getByRole('dialog', { name: 'Confirm your identity' });

async function turnOnTotp(as: Person): Promise<() => string> {
  const { body } = await browse(app, 'POST', '/account/totp', { as, payload: {} });
  const code = codesOf(app, body.secret);
  await browse(app, 'POST', '/account/totp/confirm', { as, payload: { code: code() } });
  app.clock.advance(TOTP_STEP_MS);
  return code;
}

test('inviting a member requires a recent proof, and the form keeps its input', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite member' });
  await dialog.getByLabel('Email').fill('grace-proof@acme.test');
  await dialog.getByLabel('Developer').check();
  app.clock.advance(PROOF_MS);
  await dialog.getByRole('button', { name: 'Invite' }).click();

  const proofDialog = proofDialogOf(page);
  await proofDialog.waitFor();
  await assertAccessible(page, 'the identity dialog');
  await page.keyboard.press('Escape');
  await dialog.getByText('You did not confirm your identity. Nothing was changed.').waitFor();
  assert.equal(await proofDialog.count(), 0);
  assert.equal(await dialog.getByLabel('Email').inputValue(), 'grace-proof@acme.test');

  await dialog.getByRole('button', { name: 'Invite' }).click();
  await proofDialog.getByLabel('Password', { exact: true }).fill('not the password');
  await proofDialog.getByRole('button', { name: 'Confirm' }).click();
  await proofDialog.getByText('The current password is incorrect').waitFor();
  await proofDialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await proofDialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('dialog', { name: 'Invitation for grace-proof@acme.test' }).waitFor();
  await takeSecret(page.getByRole('dialog'), 'invitation_link', 'Done');
  await page.getByRole('row', { name: /grace-proof@acme\.test.*Developer/ }).waitFor();

  await page.getByRole('button', { name: 'Actions for grace-proof@acme.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('grace-proof@acme.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: /grace-proof@acme\.test/ }).waitFor({ state: 'detached' });
});

test('generating a key and changing the password require a code with an authenticator app', async () => {
  const page = await pages.open();
  const tenant = await createTenant(app);
  const person = await joinTeam(app, tenant.organizationGuid);
  await enter(page, site, person);
  const code = await turnOnTotp(person);
  const dialog = await fillKeyForm(page, 'bank', 'Payments');
  await dialog.getByRole('button', { name: 'Generate', exact: true }).click();
  const proofDialog = proofDialogOf(page);
  assert.equal(await proofDialog.getByLabel('Password', { exact: true }).count(), 0);
  await proofDialog.getByLabel('Code').fill(code());
  await proofDialog.getByRole('button', { name: 'Confirm' }).click();
  await takeSecret(dialog, 'client_secret', 'Done');
  await page.getByText('Payments').waitFor();

  app.clock.advance(PROOF_MS);
  await page.goto('/account');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('a brand new password');
  await page.getByLabel('Confirm new password').fill('a brand new password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await proofDialog.getByLabel('Code').fill(code());
  await proofDialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Password changed').waitFor();
});

test('a Founder can require a second factor for Developers, who then set one up', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await joinTeam(app, tenant.organizationGuid);
  await enter(page, site, founder);
  await addAuthenticator(page);
  await page.goto('/organization');
  const panel = page.getByRole('region', { name: 'Two-factor authentication' });
  await panel.getByText('before you require one for others').waitFor();
  assert.ok(await panel.getByLabel('Developer').isDisabled());
  await panel.getByRole('link', { name: 'your account' }).click();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('Laptop', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Organization' }).click();
  await panel.getByLabel('Developer').check();
  const json = { second_factor_roles: ['viewer'], second_factor_in_production: false };
  await page.route('**/api/member_policy', (route) => route.fulfill({ json }));
  await returnToTab(page);
  await panel.getByLabel('Viewer').and(page.locator(':checked')).waitFor();
  await page.unroute('**/api/member_policy');
  app.clock.advance(PROOF_MS);
  const saved = await watchForText(page, 'Two-factor policy saved.');
  await panel.getByRole('button', { name: 'Save' }).click();
  await proofDialogOf(page).getByRole('button', { name: 'Use a passkey' }).click();
  await saved();
  await assertAccessible(page, 'organization page');
  await page.reload();
  assert.ok(await panel.getByLabel('Developer').isChecked());
  assert.ok(await panel.getByLabel('Viewer').isChecked());

  const other = await pages.open();
  await enterAs(other, site, tenant, 'developer');
  await other.goto('/overview');
  await other.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  await assertAccessible(other, 'second factor required');
  await other.getByRole('link', { name: 'Open account settings' }).click();
  await other.getByRole('button', { name: 'Set up' }).click();
  const dialog = other.getByRole('dialog');
  const code = codesOf(app, await dialog.locator('[data-totp-secret]').textContent());
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code());
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await takeSecret(dialog, 'recovery_codes', 'Done');
  await other.getByRole('link', { name: 'API keys' }).click();
  await other.getByRole('heading', { name: 'API keys' }).waitFor();
  await other.getByText('Any address').first().waitFor();
});

test('a member who logged in without the required passkey can confirm it', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await addAuthenticator(page);
  const person = await enterAs(page, site, tenant, 'viewer');
  await page.goto('/account');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('Laptop', { exact: true }).waitFor();
  await app.operate('PATCH', `/organizations/${tenant.organizationGuid}`, {
    second_factor_roles: ['viewer'],
  });
  await enter(page, site, person);
  await page.goto('/keys');
  await page.getByRole('heading', { name: 'Confirm your second factor' }).waitFor();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
});

test('production changes of a live Organization require a second factor and link to its setup', async () => {
  const { body } = await app.operate('POST', '/organizations', { name: 'Acme', live: true });
  const organizationGuid = String(body.guid);
  const banks = `/organizations/${organizationGuid}/banks`;
  await app.operate('POST', banks, { name: 'Bank', environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, { organizationGuid }, 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('grace-proof@acme.test');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByText('Changes in production require a second factor').waitFor();
  await dialog.getByRole('link', { name: 'Set up a second factor' }).click();
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
});
