import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { createPools } from './connection-pools.ts';
import { type Answer, Exchange, notSent, type ParsedUrl, type PostRequest } from './exchange.ts';

const MAX_PARSED_URLS = 10_000;

export type Transport = {
  /** Never rejects: failures are answers too. */
  post(request: PostRequest): Promise<Answer>;
  /** Closes every connection; requests in flight become `unreachable`. */
  close(): Promise<void>;
};

/** Posts to partners' endpoints: public addresses only, one timeout for all, no redirects followed. */
export function createTransport({
  clock,
  timers,
  resolve,
}: {
  clock: Clock;
  timers: Timers;
  resolve: Resolve;
}): Transport {
  const deps = { clock, timers, pools: createPools({ clock, resolve }) };
  const parsedUrls = new Map<string, ParsedUrl>();
  let open = true;

  function parse(url: string): ParsedUrl | undefined {
    const known = parsedUrls.get(url);
    if (known) return known;
    const parsed = URL.parse(url);
    if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return undefined;
    const result = { origin: parsed.origin, path: parsed.pathname + parsed.search };
    setBounded(parsedUrls, url, result, MAX_PARSED_URLS);
    return result;
  }

  return {
    post(request) {
      const url = parse(request.url);
      if (!open) return Promise.resolve(notSent('the service is stopping'));
      if (!url) return Promise.resolve(notSent('the URL is not valid'));
      return new Promise<Answer>((done) => new Exchange(deps, request, url, done).send()).catch(() =>
        notSent('the request could not be made'),
      );
    },
    async close() {
      open = false;
      await deps.pools.close();
    },
  };
}
