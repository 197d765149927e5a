import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type axe from 'axe-core';
import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** The package exports its source only unminified, which browsers parse for twice as long. */
const SCRIPT = join(import.meta.dirname, '..', '..', 'node_modules', 'axe-core', 'axe.min.js');
const SERIOUS = new Set(['serious', 'critical']);
/** Only these rules depend on the theme, so the others run once. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const THEMES = ['light', 'dark'] as const;
const ALL: RunOptions = { resultTypes: ['violations'] };
const COLORS: RunOptions = { ...ALL, runOnly: COLOR_RULES };
const PHONE = { width: 360, height: 800 };

/** Asserts that the page has no serious or critical violation in either theme, and fits the width of a phone. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const dialogs = await page.getByRole('dialog').count();
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await readFile(SCRIPT, 'utf8'));
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  // The theme of the last check comes first: a change of theme renders the whole page again.
  for (const [index, theme] of (isDark ? THEMES.toReversed() : THEMES).entries()) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForFunction(isThemeApplied, theme);
    // The page behind a dialog is inert, and has its own check.
    const found = await violationsOf(
      page,
      dialogs > 0 ? '[role=dialog]' : 'html',
      index === 0 ? ALL : COLORS,
    );
    assert.deepEqual(found, [], `${what} (${theme}): ${found.join('\n\n')}`);
  }
  const before = page.viewportSize();
  await page.setViewportSize(PHONE);
  await assertFits(page, what);
  if (before) await page.setViewportSize(before);
}

/** Runs in the browser. Waits for transitions, except endless animations such as loaders. Pages without Mantine use CSS. */
function isThemeApplied(theme: string): boolean {
  const { mantineColorScheme = theme } = document.documentElement.dataset;
  const isTransition = ({ effect, playState }: Animation) =>
    playState === 'running' && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
  return mantineColorScheme === theme && !document.getAnimations().some(isTransition);
}

/** The impact of a violation is that of its rule, so rules of a lower impact need not run. */
type Axe = typeof axe & { _audit: { rules: readonly { id: string; impact?: string }[] } };

async function violationsOf(page: Page, selector: string, options: RunOptions): Promise<string[]> {
  const { violations } = await page.evaluate(
    ([within, axeOptions]) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const minor = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate');
      const rules = Object.fromEntries(minor.map(({ id }) => [id, { enabled: false }]));
      return axe.run(within, axeOptions.runOnly ? axeOptions : { ...axeOptions, rules });
    },
    [selector, options] as const,
  );
  return violations
    .filter(({ impact }) => SERIOUS.has(String(impact)))
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
}

async function assertFits(page: Page, what: string): Promise<void> {
  const fits = page.waitForFunction(isWithinWindow);
  await fits.catch(() => assert.fail(`${what} is wider than the window, or its header overlaps`));
}

/** Runs in the browser. The header is fixed, so its content does not widen the page. */
function isWithinWindow(): boolean {
  const boxes = [
    document.documentElement,
    ...document.querySelectorAll('header, header [aria-label^="Bank:"]'),
  ];
  return boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
}
