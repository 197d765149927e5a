import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createFakeClock } from '../testing/app/fake-clock.ts';
import { BOUNDED, findServicePort, waitFor, watch } from '../testing/app/serve.ts';
import { createTenant, type Key } from '../testing/app/tenant.ts';
import { PDF } from '../testing/objects/files.ts';
import { createSubscription } from '../testing/webhooks/subscriptions.ts';
import { createDispatchingApp } from '../testing/webhooks/webhooks.ts';
import { assertAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';

const SIMULATOR_DELAY_MS = 1_000;
const PHOTO = 'a photo with a name that is too long for the screen of a phone.png';

const port = await findServicePort();
const url = `http://localhost:${port}`;
const app = await createDispatchingApp({
  environment: { PORTICO_BASE_URL: url, PORTICO_SIMULATOR_DELAY: `${SIMULATOR_DELAY_MS / 1_000}s` },
  clock: createFakeClock(new Date()),
});
await app.server.listen({ port, host: '127.0.0.1' });
const browser = await launchBrowser();

/** Starts an example with its own command, as its README does. */
async function start(folder: string, key: Key, settings: Record<string, string> = {}): Promise<string> {
  const env = {
    ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, PORT: '0' },
    ...{ PORTICO_URL: url, PORTICO_CLIENT_ID: key.clientId, PORTICO_CLIENT_SECRET: key.secret },
    ...settings,
  };
  const cwd = join(import.meta.dirname, '..', 'examples', folder);
  const running = watch(spawn(process.execPath, ['server.ts'], { cwd, env }));
  after(() => {
    running.kill('SIGKILL');
    return running.exited;
  });
  const address = /http:\/\/\S+/;
  await waitFor('its address', running, () => address.test(running.out()));
  return String(address.exec(running.out())?.[0]);
}

async function open(address: string): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  await page.goto(address);
  return { page, errors };
}

test('the wallet shows a transfer move through its states, and the balances after it', BOUNDED, async (t) => {
  const tenant = await createTenant(app);
  const walletPort = await findServicePort();
  const { signing_key } = await createSubscription(app, tenant, {
    url: `http://127.0.0.1:${walletPort}/webhooks`,
  });
  const settings = { SIGNING_KEYS: signing_key, PORT: String(walletPort) };
  const { page, errors } = await open(await start('wallet', tenant.organizationKey, settings));
  const accounts = page.getByRole('region', { name: 'Accounts' });
  await accounts.getByText('$1,200.00').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();

  const latest = page.getByRole('region', { name: 'Transfers' }).getByRole('listitem').first();
  async function move(amount: string, states: readonly string[]) {
    await page.getByLabel('Amount in USD').fill(amount);
    await page.getByRole('button', { name: 'Move' }).click();
    await latest.locator('.amount').getByText(`$${amount}`).waitFor();
    for (const [index, name] of states.entries()) {
      if (index > 0) app.clock.advance(SIMULATOR_DELAY_MS);
      await app.simulator.drain();
      await app.dispatcher.drain();
      await latest.locator('[aria-current=step]').getByText(name).waitFor();
    }
  }
  await move('25.50', ['Sent', 'In review', 'Completed']);
  await accounts.getByText('$1,174.50').waitFor();
  await accounts.getByText('$475.50').waitFor();
  await page.getByLabel('From').selectOption('Savings');
  await page.getByLabel('Let the review refuse it').check();
  await move('10.00', ['Sent', 'In review', 'Failed']);
  await latest.getByText('Savings to Checking').waitFor();
  assert.equal(await accounts.getByText('$475.50').count(), 1);
  const webhooks = page.getByRole('region', { name: 'Verified webhooks' }).getByRole('listitem');
  // Answered before they are handled.
  await webhooks.nth(5).waitFor();
  assert.equal(await webhooks.count(), 6);

  await t.test('an order is sent again as it was until it is created or refused', async () => {
    const orders: { key: string; amount: string }[] = [];
    const answers = [409, 503];
    await page.route('**/transfers', async (route) => {
      orders.push(route.request().postDataJSON());
      const status = answers.shift();
      if (status === undefined) return route.continue();
      // The order arrives, and its answer is lost.
      await route.fetch();
      await route.fulfill({ status, json: { message: `status ${status}` } });
    });
    await page.getByLabel('Amount in USD').fill('7.00');
    for (const status of [...answers]) {
      await page.getByRole('button', { name: 'Move' }).click();
      await page.getByText(`Not confirmed: status ${status}.`).waitFor();
      assert.equal(await page.getByLabel('Amount in USD').isDisabled(), true);
    }
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByLabel('Amount in USD').and(page.locator(':enabled')).waitFor();
    assert.equal(orders.length, 3);
    assert.deepEqual(orders, Array(3).fill(orders[0]));
    assert.equal(await page.locator('.transfer .amount').getByText('$7.00').count(), 1);

    await page.getByLabel('Amount in USD').fill('0');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByRole('alert').getByText('amount').waitFor();
    await move('5.00', ['Sent']);
    assert.deepEqual(
      orders.slice(3).map(({ amount }) => amount),
      ['0', '500'],
    );
    assert.equal(new Set(orders.map(({ key }) => key)).size, 3);
  });
  await assertAccessible(page, 'the wallet');
  assert.deepEqual(errors, []);
});

test(
  'a page uploads files with their progress, cancels and repeats, and shows a refused one',
  BOUNDED,
  async () => {
    const { bankKey } = await createTenant(app);
    const { page, errors } = await open(await start('browser-upload', bankKey));
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer });
    const upload = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    const state = (name: string, text: string) => upload(name).getByText(text).waitFor();

    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => seen.push(document.querySelector('.state')?.textContent ?? '')).observe(
        document.body,
        { subtree: true, childList: true },
      );
    });
    await choose('bill.pdf', 'application/pdf', Buffer.concat([PDF, Buffer.alloc(3_000_000, '%')]));
    await state('bill.pdf', 'Checking the content');
    await app.fileProcessing.drain();
    await state('bill.pdf', 'Completed');
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    assert.ok(
      seen.some((text) => /^Uploading, \d+%$/.test(text)),
      seen.join(),
    );

    let stopped = () => {};
    const isUploading = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    await page.route(`${url}/**`, stopped);
    await choose('statement.pdf', 'application/pdf', PDF);
    await isUploading;
    await page.getByRole('button', { name: 'Cancel statement.pdf' }).click();
    await state('statement.pdf', 'Cancelled');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('button', { name: 'Try again: statement.pdf' }).click();
    await choose(PHOTO, 'image/png', PDF);
    await state('statement.pdf', 'Checking the content');
    await state(PHOTO, 'Checking the content');
    await app.fileProcessing.drain();
    await state('statement.pdf', 'Completed');
    await state(PHOTO, 'Refused: the content is not what the name says');
    await assertAccessible(page, 'the upload page');
    assert.deepEqual(errors, []);
  },
);
