import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const SERIOUS = new Set(['serious', 'critical']);

/** As axe sees the page now: no serious or critical violation. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  const found = violations
    .filter(({ impact }) => SERIOUS.has(String(impact)))
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
  assert.deepEqual(found, [], `${what}: ${found.join('\n\n')}`);
}

/** The page is as wide as the window, and nothing sticks out of it; what follows the size of the window gets a moment. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const fits = page.waitForFunction(
    () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  );
  await fits.catch(() => assert.fail(`${what} is wider than the window`));
}
