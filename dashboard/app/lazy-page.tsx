import { useWindowEvent } from '@mantine/hooks';
import { type ComponentType, use, useEffect, useReducer } from 'react';
import { unreachable } from '../api/send.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';

/** A file of every build, which browsers do not keep. */
const PROBE = '/icon.svg';
const RELOADED_PREFIX = 'portico.reloaded.';

type Page = ComponentType<Record<never, never>>;
type Failure = { error: unknown; remedy: 'retry' | 'reload' | 'none' };

/**
 * A page that is loaded on demand. The router's own `lazyRouteComponent` reloads the document when that fails, which
 * replaces the dashboard by the browser's error page while the service restarts.
 */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, Page>>, name: Name) {
  const loader = new Loader(RELOADED_PREFIX + name, async () => (await load())[name]);
  // The router calls `preload` before each rendering, also after a failure.
  return Object.assign(() => <LazyPage loader={loader} />, { preload: () => loader.load() });
}

class Loader {
  page: Page | undefined;
  failure: Failure | undefined;
  #loading: Promise<void> | undefined;
  /** Set in the session storage from a reload until the page is loaded. */
  readonly marker: string;
  readonly #importPage: () => Promise<Page>;

  constructor(marker: string, importPage: () => Promise<Page>) {
    this.marker = marker;
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
      sessionStorage.removeItem(this.marker);
    } catch (error) {
      this.failure = { error, remedy: await this.#findRemedy() };
    }
    this.#loading = undefined;
  }

  /** A deployment may have replaced the scripts. A failure after the reload has another cause. */
  async #findRemedy(): Promise<Failure['remedy']> {
    if (!(await isServiceReachable())) return 'retry';
    return sessionStorage.getItem(this.marker) === null ? 'reload' : 'none';
  }
}

function LazyPage({ loader }: { loader: Loader }) {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  if (!loader.page && !loader.failure) use(loader.load());
  const { page: Loaded, failure } = loader;
  if (Loaded) return <Loaded />;
  if (failure?.remedy === 'none') throw failure.error;
  if (failure?.remedy === 'reload') return <Reload marker={loader.marker} />;
  return <Unreachable onRetry={() => void loader.load().then(renderAgain)} />;
}

function Unreachable({ onRetry }: { onRetry: () => void }) {
  useWindowEvent('online', onRetry);
  return <ErrorAlert error={unreachable()} onRetry={onRetry} />;
}

/** Not part of loading: the router also preloads the page of a link under the pointer, which must not discard input. */
function Reload({ marker }: { marker: string }) {
  useEffect(() => {
    sessionStorage.setItem(marker, 'yes');
    location.reload();
  }, [marker]);
  return null;
}

async function isServiceReachable(): Promise<boolean> {
  return await fetch(PROBE, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Vite requests a stylesheet only once, even if that failed. */
function requestMissingStylesheets(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]'))
    if (link.sheet === null) link.replaceWith(link.cloneNode());
}
