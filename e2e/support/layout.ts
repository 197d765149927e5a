import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Below and above the width at which the navigation appears, and a laptop. */
const WIDTHS = [800, 1024, 1280];

/** Asserts that panels show all their content, and that no table needs to be scrolled sideways. */
export async function assertNothingCutOff(page: Page, what: string): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Charts adapt to their new width after it is laid out.
    await page.waitForFunction(showsEverything).catch(() => assert.fail(`${what} is cut off at ${width} px`));
  }
  if (before) await page.setViewportSize(before);
}

/** Runs in the browser. */
function showsEverything(): boolean {
  const boxes = [...document.querySelectorAll('main section, main :has(> table)')];
  return boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
}
