import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { ADDRESS, type Site } from './site.ts';

/** Fails a wait that cannot succeed; long enough for a busy machine. */
const TIMEOUT_MS = 60_000;
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

/**
 * Watches for a text that is shown for a few seconds only, such as a notification: the page remembers it even if it is
 * gone before the next look. Call it before the action; the returned function waits for the text.
 */
export async function watchForText(within: Page | Locator, text: string): Promise<() => Promise<void>> {
  const element = 'page' in within ? within : within.locator('body');
  const watched = await element.evaluateHandle((root, wanted) => {
    const state = { isSeen: false };
    const look = () => {
      state.isSeen ||= root.textContent.includes(wanted);
    };
    new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true });
    return state;
  }, text);
  const page = 'page' in within ? within.page() : within;
  return async () => {
    const seen = page.waitForFunction(({ isSeen }) => isSeen, watched);
    await seen.catch(() => assert.fail(`“${text}” was not shown`));
  };
}

/** Makes the page reload its session and banks, as it does when the user returns to the tab after a while. */
export async function returnToTab(page: Page): Promise<void> {
  await page.clock.fastForward(STALE_MS);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
}

const VIEWPORT = { width: 1280, height: 900 };
const DEFAULTS: BrowserContextOptions = {
  viewport: VIEWPORT,
  reducedMotion: 'reduce',
  timezoneId: 'UTC',
  extraHTTPHeaders: { 'x-forwarded-for': ADDRESS },
};

/**
 * Navigates within the loaded dashboard, at a fraction of the cost of `goto`. Returns when the new page is rendered:
 * until then the controls of the old one are still there.
 */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate(async (to) => {
    const router = window.__TSR_ROUTER__;
    if (!router) throw new Error('The dashboard is not loaded');
    const rendered = new Promise((resolve) => router.subscribe('onResolved', resolve));
    history.pushState({}, '', to);
    await rendered;
  }, path);
}

/**
 * Opens pages on the virtual time of the app. An error in the console (scripts, CSP) or a request to another origin
 * fails the test; error responses of the API do not.
 */
export function createPages(browser: Browser, { app, url }: Site) {
  const errors: string[] = [];
  /** Tabs are reused: a new tab has a new process, which compiles the dashboard again. */
  const idle: Page[] = [];
  const used = new Set<Page>();
  afterEach(async () => {
    for (const page of used) idle.push(await reset(page));
    used.clear();
    assert.deepEqual(errors.splice(0), []);
  });

  /** Clears all state, on a document of the same origin that runs no script. */
  async function reset(page: Page): Promise<Page> {
    const context = page.context();
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto('/icon.svg');
    await context.clearCookies();
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    page.removeAllListeners('request').removeAllListeners('response');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(VIEWPORT);
    return page;
  }

  async function createPage(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ baseURL: url, ...DEFAULTS, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      const isErrorResponse = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isErrorResponse) errors.push(message.text());
    });
    return page;
  }

  async function start(page: Page): Promise<Page> {
    await page.context().clock.install({ time: app.clock.now() });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== url) errors.push(`request to ${request.url()}`);
    });
    return page;
  }

  return {
    /** The errors in the console so far, for a test that expects some. */
    takeErrors: () => errors.splice(0),
    /** Each call is another browser profile, without cookies and storage. */
    async open(): Promise<Page> {
      const page = await start(idle.pop() ?? (await createPage({})));
      used.add(page);
      return page;
    },
    /** A page with its own settings, which stays open until the end of the test file. */
    async openWith(options: BrowserContextOptions): Promise<Page> {
      return await start(await createPage(options));
    },
  };
}
