import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { browse, joinTeam, PASSWORD, type Person } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { assertAccessible } from './support/accessibility.ts';
import { addAuthenticator, codesOf, PROOF_MS, TOTP_STEP_MS } from './support/authenticator.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter, enterAs } from './support/people.ts';
import { allowCurrentAddress, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

const questionOf = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

async function turnOnTotp(as: Person): Promise<() => string> {
  const { body } = await browse(app, 'POST', '/account/totp', { as, payload: {} });
  const code = codesOf(app, body.secret);
  await browse(app, 'POST', '/account/totp/confirm', { as, payload: { code: code() } });
  app.clock.advance(TOTP_STEP_MS);
  return code;
}

test('an invitation asks for the password when the login is long ago, and goes on with what was typed', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite to the team' });
  await dialog.getByLabel('Email').fill('grace@acme.test');
  await dialog.getByLabel('Developer').check();
  app.clock.advance(PROOF_MS);
  await dialog.getByRole('button', { name: 'Invite' }).click();

  const question = questionOf(page);
  await question.waitFor();
  await assertAccessible(page, 'the question');
  await page.keyboard.press('Escape');
  await dialog.getByText('You did not confirm that it is you. Nothing was changed.').waitFor();
  assert.equal(await question.count(), 0);
  assert.equal(await dialog.getByLabel('Email').inputValue(), 'grace@acme.test');

  await dialog.getByRole('button', { name: 'Invite' }).click();
  await question.getByLabel('Password', { exact: true }).fill('not the password');
  await question.getByRole('button', { name: 'Confirm' }).click();
  await question.getByText('The current password is incorrect').waitFor();
  await question.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await question.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('dialog', { name: 'grace@acme.test is invited' }).waitFor();
  await takeSecret(page.getByRole('dialog'), 'invitation_link', 'Done');
  await page.getByRole('row', { name: /grace@acme\.test.*Developer/ }).waitFor();

  await page.getByRole('button', { name: 'Actions for grace@acme.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('grace@acme.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: /grace@acme\.test/ }).waitFor({ state: 'detached' });
});

test('a key is generated and a password changed after a code, for a person with an authenticator app', async () => {
  const page = await pages.open();
  const tenant = await createTenant(app);
  const person = await joinTeam(app, tenant.organizationGuid);
  await enter(page, site, person);
  const code = await turnOnTotp(person);
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments');
  await allowCurrentAddress(page);
  await dialog.getByRole('button', { name: 'Generate', exact: true }).click();
  const question = questionOf(page);
  assert.equal(await question.getByLabel('Password', { exact: true }).count(), 0);
  await question.getByLabel('Code').fill(code());
  await question.getByRole('button', { name: 'Confirm' }).click();
  await takeSecret(dialog, 'client_secret', 'Done');
  await page.getByText('Payments').waitFor();

  app.clock.advance(PROOF_MS);
  await page.goto('/account');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('a brand new password');
  await page.getByLabel('Password again').fill('a brand new password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await question.getByLabel('Code').fill(code());
  await question.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('The password is changed').waitFor();
});

test('a Founder requires a second factor of Developers, who set one up and go on', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await joinTeam(app, tenant.organizationGuid);
  await enter(page, site, founder);
  await addAuthenticator(page);
  await page.goto('/team');
  const panel = page.getByRole('region', { name: 'Two-factor authentication' });
  await panel.getByText('before you require one of others').waitFor();
  assert.ok(await panel.getByLabel('Developer').isDisabled());
  await panel.getByRole('link', { name: 'your account' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('Laptop', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Team' }).click();
  await panel.getByLabel('Developer').check();
  app.clock.advance(PROOF_MS);
  await panel.getByRole('button', { name: 'Save' }).click();
  await questionOf(page).getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Saved. It applies at once.').waitFor();
  await assertAccessible(page, 'the team');
  await page.reload();
  assert.ok(await panel.getByLabel('Developer').isChecked());

  const other = await pages.open();
  await enterAs(other, site, tenant, 'developer');
  await other.goto('/overview');
  await other.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  await assertAccessible(other, 'the gate');
  await other.getByRole('link', { name: 'Set it up' }).click();
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

test('a passkey that was not used to log in is asked for, and then the pages are there', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await addAuthenticator(page);
  const person = await enterAs(page, site, tenant, 'viewer');
  await page.goto('/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
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

test('without a second factor a change in production of a live Organization is refused with the way to one', async () => {
  const { body } = await app.operate('POST', '/organizations', { name: 'Acme', live: true });
  const organizationGuid = String(body.guid);
  const banks = `/organizations/${organizationGuid}/banks`;
  await app.operate('POST', banks, { name: 'Bank', environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, { organizationGuid }, 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('grace@acme.test');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByText('Changes in production require a second factor').waitFor();
  await dialog.getByRole('link', { name: 'Set up a second factor' }).click();
  await page.getByRole('heading', { name: 'Account and security' }).waitFor();
});
