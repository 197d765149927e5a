import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { addBank, fillKeyForm, selectBank } from '../support/keys.ts';
import { generateKeyInOnboarding, takeSecret } from '../support/one-time-secrets.ts';
import { returnToTab } from '../support/pages.ts';
import { enterAs, logOut } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

test('a secret stays visible when the session ends', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  const dialog = await fillKeyForm(page, 'bank', 'Payments backend');
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.locator('[data-secret=client_secret]').waitFor();

  await page.context().clearCookies();
  const ended = page.waitForResponse((response) => response.url().endsWith('/dashboard/session'));
  await returnToTab(page);
  assert.equal((await ended).status(), 401);
  assert.match(await takeSecret(dialog, 'client_secret', 'Done'), /^portico_sk_/);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal(await page.locator('[data-secret]').count(), 0);
});

test('the onboarding keeps its step and its bank while a secret is shown, which can be downloaded', async () => {
  const tenant = await createTenant(app);
  await addBank(tenant, 'Real money', 'production');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await generateKeyInOnboarding(page);
  await page.getByRole('button', { name: /Sandbox bank/ }).click();
  await selectBank(page, 'Real money');
  await page.getByText('This secret is shown only once').waitFor();

  const clientId = String(await page.locator('[data-secret=client_id]').textContent());
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const download = await started;
  assert.equal(download.suggestedFilename(), `portico-key-${clientId}.json`);
  const content = JSON.parse(await readFile(await download.path(), 'utf8')) as object;
  const secret = await takeSecret(page, 'client_secret', 'Continue');
  assert.match(secret, /^portico_sk_/);
  assert.deepEqual(content, { client_id: clientId, client_secret: secret });
  await page.reload();
  await page.getByRole('button', { name: 'Bank: Bank' }).waitFor();
});

test('logging out removes the secret from the page', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await generateKeyInOnboarding(page);
  await logOut(page);
  assert.equal(await page.locator('[data-secret]').count(), 0);
});
