import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { ADDRESS, type Site } from './site.ts';

/** Fails a wait that cannot succeed; long enough for a busy machine. */
const TIMEOUT_MS = 15_000;
/** Longer than every polling interval of the dashboard except that of statistics. */
const POLL_MS = 5_000;
/** Longer than the dashboard treats the session and the banks as fresh. */
const STALE_MS = 90_000;

export function navigationOf(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Main' });
}

/** Advances the clock of the page, so that its next poll happens now. */
export async function poll(page: Page, ms = POLL_MS): Promise<void> {
  await page.clock.fastForward(ms);
}

/** Makes the page reload its session and banks, as it does when the user returns to the tab after a while. */
export async function returnToTab(page: Page): Promise<void> {
  await page.clock.fastForward(STALE_MS);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
}

const DEFAULTS: BrowserContextOptions = {
  viewport: { width: 1280, height: 900 },
  reducedMotion: 'reduce',
  timezoneId: 'UTC',
  extraHTTPHeaders: { 'x-forwarded-for': ADDRESS },
};

/**
 * Opens pages on the virtual time of the app, and closes them after the test. An error in the console (scripts, CSP) or
 * a request to another origin fails the test; error responses of the API do not.
 */
export function createPages(browser: Browser, { app, url }: Site) {
  const errors: string[] = [];
  /** Contexts are reused: loading the dashboard without the HTTP cache takes twice as long. */
  const idle: BrowserContext[] = [];
  const used = new Set<BrowserContext>();
  afterEach(async () => {
    for (const context of used) {
      for (const page of context.pages()) await page.close();
      await context.clearCookies();
      idle.push(context);
    }
    used.clear();
    assert.deepEqual(errors.splice(0), []);
  });

  async function createContext(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await browser.newContext({ baseURL: url, ...DEFAULTS, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    return context;
  }

  async function openIn(context: BrowserContext): Promise<Page> {
    await context.clock.install({ time: app.clock.now() });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'local_storage' });
    await devtools.detach();
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      const isErrorResponse = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isErrorResponse) errors.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== url) errors.push(`request to ${request.url()}`);
    });
    return page;
  }

  return {
    /** Each call is another browser profile, without cookies and storage. */
    async open(): Promise<Page> {
      const context = idle.pop() ?? (await createContext({}));
      used.add(context);
      return await openIn(context);
    },
    /** A page with its own settings, which stays open until the end of the test file. */
    async openWith(options: BrowserContextOptions): Promise<Page> {
      return await openIn(await createContext(options));
    },
  };
}
