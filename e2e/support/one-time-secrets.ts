import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { ADDRESS } from './site.ts';

const STORED = 'I have stored it safely';

/** Uses the button of the key form, and waits for its request. */
export async function allowCurrentAddress(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add my current address' }).click();
  await page.waitForFunction(
    (address) =>
      document.querySelector<HTMLInputElement>('[aria-label="Allowed address 1"]')?.value === address,
    ADDRESS,
  );
}

/** Opens the onboarding and generates a key, whose secret is then shown. */
export async function generateKeyInOnboarding(page: Page): Promise<void> {
  await page.goto('/onboarding');
  await page.getByRole('button', { name: /^Bank key/ }).click();
  await allowCurrentAddress(page);
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  await page.locator('[data-secret=client_secret]').waitFor();
}

/** Reads the secret, confirms that it is stored and continues. Asserts that the browser has not stored it. */
export async function takeSecret(dialog: Locator | Page, name: string, button: string): Promise<string> {
  const secret = String(await dialog.locator(`[data-secret=${name}]`).textContent());
  await dialog.getByLabel(STORED).check();
  const page = 'page' in dialog ? dialog.page() : dialog;
  await assertNotStored(page, secret);
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await assertNotStored(page, secret);
  return secret;
}

async function assertNotStored(page: Page, secret: string): Promise<void> {
  const stored = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state]),
  );
  for (const line of secret.split('\n')) assert.ok(line !== '' && !stored.includes(line));
}

/** Goes back, and waits until the page has returned to its address. */
async function assertBackIsUndone(page: Page): Promise<void> {
  const leaving = await page.evaluateHandle(() => {
    const state = { address: location.href, hasLeft: false };
    const leave = () => {
      state.hasLeft = true;
    };
    addEventListener('popstate', leave, { once: true });
    history.back();
    return state;
  });
  await page.waitForFunction(({ address, hasLeft }) => hasLeft && location.href === address, leaving);
}

/** Delays the response to `submit`, and asserts that nothing closes the dialog before and while the secret is shown. */
export async function assertDialogStaysOpen(
  page: Page,
  { path, secret, submit }: { path: string; secret: string; submit: () => Promise<void> },
): Promise<void> {
  const dialog = page.getByRole('dialog');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    onSent();
    await released;
    await route.fulfill({ response });
  });
  await submit();
  await sent;
  await dialog.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(3, 3);
  assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled());
  assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0);
  await assertBackIsUndone(page);
  release();
  await dialog.locator(`[data-secret=${secret}]`).waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(3, 3);
  await assertBackIsUndone(page);
  // The browser handles events in order, so the dialog has seen all of the above by now.
  await dialog.getByLabel(STORED).check();
  await assertNotStored(page, String(await dialog.locator(`[data-secret=${secret}]`).textContent()));
  await page.unroute(`**${path}`);
}
