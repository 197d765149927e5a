import assert from 'node:assert/strict';
import { after, afterEach } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { ADDRESS } from './site.ts';

/** Long enough for a busy machine; what waits longer waits for something that does not come. */
const PATIENCE_MS = 15_000;

export function menuOf(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Pages of the dashboard' });
}

/**
 * Opens pages and listens to them: whatever the browser complains about (an error in the script, a refusal by the
 * policy, a call to another origin) fails the test in which it happened. Answers that are refusals are the page's own.
 */
export function createPages(browser: Browser, url: string) {
  const complaints: string[] = [];
  const contexts = new Set<{ close(): Promise<void> }>();
  afterEach(() => {
    assert.deepEqual(complaints.splice(0), []);
  });
  after(() => Promise.all([...contexts].map((context) => context.close())));

  return {
    async open(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({
        baseURL: url,
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        extraHTTPHeaders: { 'x-forwarded-for': ADDRESS },
        ...options,
      });
      contexts.add(context);
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        const isRefusal = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
      });
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        if (protocol.startsWith('http') && origin !== url) complaints.push(`a call to ${request.url()}`);
      });
      return page;
    },
  };
}
