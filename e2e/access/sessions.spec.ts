import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { navigationOf, poll, returnToTab, watchForText } from '../support/pages.ts';
import { enterAs, logOut } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

/** Longer than a notice is shown. */
const NOTICE_MS = 7_000;
/** Longer than a dismissed notice takes to disappear, and much shorter than it is shown. */
const FADING_MS = 1_000;
/** The clock of the page goes on until it is paused, and can be paused only at a later time. */
const PAUSE_AFTER_MS = 60_000;

/** The Authorization header of the request that a navigation link causes. */
async function tokenAfterClick(page: Page, link: string, path: string): Promise<string | undefined> {
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname === path);
  await navigationOf(page).getByRole('link', { name: link, exact: true }).click();
  return (await sent).headers().authorization;
}

test('logging out of an expired session shows no error', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  await page.context().clearCookies();
  await logOut(page);
  assert.equal(await page.getByText('Could not log out').count(), 0);
  assert.equal(await page.getByText('Your session has ended').count(), 0);
});

test('a changed form is discarded only by a button', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/overview');
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  const dialog = page.getByRole('dialog');
  const invite = () => page.getByRole('button', { name: 'Invite' }).first().click();
  await invite();
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await invite();
  await dialog.getByLabel('Email').fill('grace@acme.test');
  const text = 'Press Close to discard your input.';
  const assertKept = async (leave: () => Promise<unknown>) => {
    const told = await watchForText(page, text);
    await leave();
    await told();
    await poll(page, NOTICE_MS);
    await page.getByText(text).waitFor({ state: 'detached' });
  };
  await assertKept(() => page.keyboard.press('Escape'));
  // The clock stands still, so that the notice does not end by itself.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + PAUSE_AFTER_MS);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.clock.runFor(FADING_MS);
  await page.getByText(text).waitFor({ state: 'detached' });
  await page.clock.resume();
  await assertKept(() => page.mouse.click(3, 3));
  await assertKept(() => page.evaluate(() => history.back()));
  await page.waitForURL('**/team');
  await assertKept(async () => {
    await page.keyboard.press('Control+K');
    await page.getByRole('option', { name: 'API keys' }).click();
  });
  const question = page.waitForEvent('dialog');
  await Promise.all([question.then((asked) => asked.dismiss()), page.close({ runBeforeUnload: true })]);
  assert.equal((await question).type(), 'beforeunload');
  assert.equal(await dialog.getByLabel('Email').inputValue(), 'grace@acme.test');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.evaluate(() => history.back());
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('a changed form outside of a dialog is discarded only after a question', async () => {
  const page = await pages.open();
  const person = await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/team');
  const account = page.getByRole('heading', { name: 'Account and security' });
  const name = page.getByLabel('Name', { exact: true });
  await page.getByRole('button', { name: /^Account:/ }).click();
  await page.getByRole('menuitem', { name: 'Account' }).click();
  await name.fill('Grace');
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  const keepEditing = async () => {
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    await page.waitForURL('**/account');
    assert.equal(await name.inputValue(), 'Grace');
  };
  await page.evaluate(() => history.back());
  await assertAccessible(page, 'the question about changes that are not saved');
  await keepEditing();
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  await keepEditing();
  const asked = page.waitForEvent('dialog');
  await Promise.all([asked.then((dialog) => dialog.dismiss()), page.close({ runBeforeUnload: true })]);
  await page.context().clearCookies();
  await returnToTab(page);
  const login = page.getByRole('dialog', { name: 'Log in' });
  await login.getByLabel('Password', { exact: true }).fill(person.password);
  await login.getByRole('button', { name: 'Log in', exact: true }).click();
  await login.waitFor({ state: 'detached' });
  assert.equal(await name.inputValue(), 'Grace');
  // One question for both forms of the page.
  await page.getByLabel('New password', { exact: true }).fill('not saved');
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('heading', { name: 'Team' }).waitFor();
  await page.evaluate(() => history.back());
  await account.waitFor();
  assert.equal(await name.inputValue(), '');
  await name.fill('Grace');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('button:disabled:not([data-loading])', { hasText: 'Save' }).waitFor();
  await navigationOf(page).getByRole('link', { name: 'Team' }).click();
  await page.getByRole('heading', { name: 'Team' }).waitFor();
});

test('after the end of the session the same user logs in again and continues with the form', async () => {
  const page = await pages.open();
  const tenant = await createTenant(app);
  const person = await enterAs(page, site, tenant, 'founder');
  await page.goto('/team');
  await page.getByRole('button', { name: 'Invite' }).first().click();
  const form = page.getByRole('dialog', { name: 'Invite member' });
  await form.getByLabel('Email').fill('grace-again@acme.test');
  await form.getByLabel('Developer').check();
  await page.context().clearCookies();
  await returnToTab(page);
  const login = page.getByRole('dialog', { name: 'Log in' });
  await login.getByText('Your session has ended. Log in again.').waitFor();
  await assertAccessible(page, 'login after the end of a session');
  assert.equal(await login.getByLabel('Email').inputValue(), person.email);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+K');
  const joined = await joinTeam(app, tenant.organizationGuid, { role: 'viewer' });
  await login.getByLabel('Password', { exact: true }).fill(person.password);
  await login.getByRole('button', { name: 'Log in', exact: true }).click();
  await login.waitFor({ state: 'detached' });
  await page.getByText(joined.email).waitFor();
  assert.equal(await page.getByText('Could not refresh').count(), 0);
  assert.equal(await page.getByRole('dialog', { name: 'Search' }).count(), 0);
  assert.ok(await form.getByLabel('Developer').evaluate((field) => field === document.activeElement));
  assert.equal(await form.getByLabel('Email').inputValue(), 'grace-again@acme.test');
  await form.getByRole('button', { name: 'Invite' }).click();
  await takeSecret(page.getByRole('dialog'), 'invitation_link', 'Done');
  await page.getByRole('row', { name: /grace-again@acme\.test.*Developer/ }).waitFor();

  await page.context().clearCookies();
  await returnToTab(page);
  const other = await joinTeam(app, tenant.organizationGuid, { role: 'viewer' });
  await login.getByLabel('Email').fill(other.email);
  await login.getByLabel('Password', { exact: true }).fill(other.password);
  await login.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: `Account: ${other.email}` }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);
});

test('the page behind the login makes no calls and gets no Escape key', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  const polled = () => page.waitForResponse((response) => /\/api\/subscriptions\?/.test(response.url()));
  await Promise.all([polled(), page.goto('/subscriptions')]);
  await Promise.all([polled(), poll(page)]);
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const form = page.getByRole('dialog', { name: 'Create Webhook Subscription in sandbox' });
  await form.waitFor();
  await page.context().clearCookies();
  await returnToTab(page);
  await page.getByRole('dialog', { name: 'Log in' }).waitFor();
  await page.keyboard.press('Escape');
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await poll(page);
  await page.evaluate(() => fetch('/icon.svg'));
  assert.deepEqual(paths, ['/icon.svg']);
  assert.equal(await form.count(), 1);
});

test('a login in another tab discards the data of the previous user', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('row', { name: /Key/ }).waitFor();
  const before = await tokenAfterClick(page, 'Team', '/api/members');
  await page.getByRole('button', { name: 'Invite' }).waitFor();

  await enterAs(page, site, tenant, 'viewer');
  await returnToTab(page);
  await page.getByRole('button', { name: 'Invite' }).waitFor({ state: 'detached' });
  const after = await tokenAfterClick(page, 'API keys', '/api/bank_applications');
  assert.ok(before !== undefined && after !== undefined);
  assert.notEqual(after, before);
});

test('the login to accept an invitation stays valid when the invitation is rejected', async () => {
  const [first, second] = [await createTenant(app), await createTenant(app)];
  const page = await pages.open();
  await enterAs(page, site, first, 'founder');
  const person = await joinTeam(app, first.organizationGuid);
  const path = `/organizations/${second.organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email: person.email, role: 'viewer' });
  const json = { error: 'conflict', message_code: 'conflict', message: 'Not now' };
  await page.route('**/dashboard/links/accept', (route) => route.fulfill({ status: 409, json }));
  await page.goto(String(body.invitation_link));
  await page.getByRole('button', { name: 'Already have an account? Log in' }).click();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Log in and join' }).click();
  await page.getByText('You are logged in with this email address').waitFor();
  await page.unroute('**/dashboard/links/accept');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await navigationOf(page).waitFor();
});

test('the passkey limit is shown instead of the add button', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'viewer');
  const objects = Array.from({ length: 10 }, (_, index) => ({
    guid: String(index).padStart(32, '0'),
    name: `Device ${index}`,
    created_at: app.clock.now().toISOString(),
  }));
  await page.route('**/account/passkeys', (route) => route.fulfill({ json: { objects } }));
  await page.goto('/account');
  await page.getByText('10 of 10 passkeys used').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add passkey' }).count(), 0);
});

test('the member limit is shown instead of the invite button', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  const objects = Array.from({ length: 200 }, (_, index) => ({
    guid: String(index).padStart(32, '0'),
    email: `person-${index}@acme.test`,
    role: 'viewer',
    state: 'active',
  }));
  await page.route('**/api/members?*', (route) => route.fulfill({ json: { objects } }));
  await page.goto('/team');
  await page.getByText('200 of 200 members').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);
});
