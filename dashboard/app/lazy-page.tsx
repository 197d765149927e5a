import { type ComponentType, use, useReducer } from 'react';
import { unreachable } from '../api/send.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';

/** A file of every build, which browsers do not keep. */
const PROBE = '/icon.svg';
const RELOADED = 'portico.reloaded';

type Page = ComponentType<Record<never, never>>;
type Failure = { error: unknown; isReachable: boolean };

/**
 * A page that is loaded on demand. The router's own `lazyRouteComponent` reloads the document when that fails, which
 * replaces the dashboard by the browser's error page while the service restarts.
 */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, Page>>, name: Name) {
  const loader = new Loader(async () => (await load())[name]);
  // The router calls `preload` before each rendering, also after a failure.
  return Object.assign(() => <LazyPage loader={loader} />, { preload: () => loader.load() });
}

class Loader {
  page: Page | undefined;
  failure: Failure | undefined;
  #loading: Promise<void> | undefined;
  readonly #importPage: () => Promise<Page>;

  constructor(importPage: () => Promise<Page>) {
    this.#importPage = importPage;
  }

  load(): Promise<void> {
    if (this.page) return Promise.resolve();
    this.#loading ??= this.#tryLoading();
    return this.#loading;
  }

  async #tryLoading(): Promise<void> {
    if (this.failure) requestMissingStylesheets();
    try {
      this.page = await this.#importPage();
    } catch (error) {
      this.failure = { error, isReachable: await isServiceReachable() };
    }
    this.#loading = undefined;
  }
}

function LazyPage({ loader }: { loader: Loader }) {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  if (!loader.page && !loader.failure) use(loader.load());
  const { page: Loaded, failure } = loader;
  if (Loaded) return <Loaded />;
  if (failure?.isReachable) throw reloadOnce(failure.error);
  return <ErrorAlert error={unreachable()} onRetry={() => void loader.load().then(renderAgain)} />;
}

async function isServiceReachable(): Promise<boolean> {
  return await fetch(PROBE, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** A deployment has replaced the scripts. The second failure of the same page has another cause. */
function reloadOnce(error: unknown): unknown {
  if (sessionStorage.getItem(RELOADED) === String(error)) return error;
  sessionStorage.setItem(RELOADED, String(error));
  location.reload();
  return new Promise(() => {});
}

/** Vite requests a stylesheet only once, even if that failed. */
function requestMissingStylesheets(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]'))
    if (link.sheet === null) link.replaceWith(link.cloneNode());
}
