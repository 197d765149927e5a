import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const SERIOUS = new Set(['serious', 'critical']);
const THEMES = ['light', 'dark'] as const;
const PHONE = { width: 380, height: 800 };

/**
 * What the page shows now, in both themes and as wide as a phone: no serious or critical violation, and nothing that
 * sticks out. The theme is changed in place, as the system of a person does in the evening.
 */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const dialogs = await page.getByRole('dialog').count();
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForFunction(isAtRest, theme);
    // What is behind a dialog cannot be reached, and was looked at before.
    const found = await violationsOf(page, dialogs > 0 ? '[role=dialog]' : 'html');
    assert.deepEqual(found, [], `${what} (${theme}): ${found.join('\n\n')}`);
  }
  const before = page.viewportSize();
  await page.setViewportSize(PHONE);
  await assertFits(page, what);
  if (before) await page.setViewportSize(before);
}

/** In the browser: this theme, and no colour on its way from another. What moves for ever is not waited for. */
function isAtRest(theme: string): boolean {
  const lasting = ({ effect, playState }: Animation) =>
    playState === 'running' && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
  return (
    document.documentElement.dataset.mantineColorScheme === theme && !document.getAnimations().some(lasting)
  );
}

async function violationsOf(page: Page, within: string): Promise<string[]> {
  const { violations } = await page.evaluate(
    (selector) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(selector, { resultTypes: ['violations'] }),
    within,
  );
  return violations
    .filter(({ impact }) => SERIOUS.has(String(impact)))
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
}

/** The page is as wide as the window, and nothing sticks out of it; what follows the size of the window gets a moment. */
async function assertFits(page: Page, what: string): Promise<void> {
  const fits = page.waitForFunction(
    () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  );
  await fits.catch(() => assert.fail(`${what} is wider than the window`));
}
