import { launchBrowser } from './browser.ts';
import { createPages } from './pages.ts';
import { createDashboardSite } from './site.ts';

/** One app and one browser for all specs of a test file. Every test creates its own Organization. */
export const site = await createDashboardSite();
export const { app } = site;
export const pages = createPages(await launchBrowser(), site);

let dispatching: Promise<void> | undefined;

export function startDispatcher(): Promise<void> {
  dispatching ??= app.dispatcher.start();
  return dispatching;
}
