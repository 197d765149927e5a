import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { ADDRESS } from './site.ts';

/** By its button in the form of a key, which has to find out first. */
export async function allowCurrentAddress(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Use my current address' }).click();
  await page.waitForFunction(
    (address) =>
      document.querySelector<HTMLInputElement>('[aria-label="Allowed address 1"]')?.value === address,
    ADDRESS,
  );
}

/** The wizard up to the secret of its key, which it shows. */
export async function generateInWizard(page: Page): Promise<void> {
  await page.goto('/onboarding');
  await page.getByRole('button', { name: 'Continue with Bank' }).click();
  await allowCurrentAddress(page);
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  await page.locator('[data-secret=client_secret]').waitFor();
}

/** Reads what is shown once, says that it is stored, and goes on. The browser has kept nothing of it. */
export async function takeSecret(dialog: Locator | Page, name: string, button: string): Promise<string> {
  const secret = String(await dialog.locator(`[data-secret=${name}]`).textContent());
  await dialog.getByLabel('I have stored it safely').check();
  const page = 'page' in dialog ? dialog.page() : dialog;
  await assertKeptNowhere(page, secret);
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await assertKeptNowhere(page, secret);
  return secret;
}

/** Neither in a storage of the browser nor in the address; of several lines, none of them. */
async function assertKeptNowhere(page: Page, secret: string): Promise<void> {
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state]),
  );
  for (const line of secret.split('\n')) assert.ok(line !== '' && !kept.includes(line));
}

/**
 * Sends what `submit` sends, holds the answer back, and tries every way out of the dialog meanwhile. With the answer
 * there has to be a secret.
 */
export async function assertHeld(
  page: Page,
  { path, secret, submit }: { path: string; secret: string; submit: () => Promise<void> },
): Promise<void> {
  const dialog = page.getByRole('dialog');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: sent, resolve: tellSent } = Promise.withResolvers<void>();
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    tellSent();
    await released;
    await route.fulfill({ response });
  });
  await submit();
  await sent;
  await page.keyboard.press('Escape');
  await page.mouse.click(3, 3);
  assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled());
  assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0);
  const address = page.url();
  await page.evaluate(() => history.back());
  release();
  await dialog.locator(`[data-secret=${secret}]`).waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(3, 3);
  await page.evaluate(() => history.back());
  // Whatever was tried has come about by the time that the browser has done something else.
  await dialog.getByLabel('I have stored it safely').check();
  assert.equal(page.url(), address);
  await assertKeptNowhere(page, String(await dialog.locator(`[data-secret=${secret}]`).textContent()));
  await page.unroute(`**${path}`);
}
