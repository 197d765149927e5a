import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import { setBounded } from '../../../infrastructure/runtime/bounded-map.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { createPools } from './connection-pools.ts';
import { Conversation } from './exchange.ts';

const MAX_TARGETS = 10_000;

export type Exchange = { url: string; headers: Record<string, string>; body: string; allowPrivate: boolean };

export type Answer =
  | { kind: 'answered'; status: number; retryAfter: string | undefined; excerpt: string; durationMs: number }
  /** With the status and the beginning of the body where the response had begun. */
  | {
      kind: 'timeout' | 'unreachable';
      reason: string;
      durationMs: number;
      status?: number;
      excerpt?: string;
    };

export type Transport = {
  /** Never rejects: what goes wrong at the receiver's is an answer too. */
  post(exchange: Exchange): Promise<Answer>;
  /** Ends every connection at once; what is under way becomes `unreachable`. */
  close(): Promise<void>;
};

/** What of a URL goes over the wire, and where to. */
export type Target = { origin: string; path: string };

/** Posts to partners' endpoints: public addresses only, one deadline, little kept, no redirect followed. */
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
  const targets = new Map<string, Target>();
  let open = true;

  function targetOf(url: string): Target | undefined {
    const known = targets.get(url);
    if (known) return known;
    const parsed = URL.parse(url);
    if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return undefined;
    const target = { origin: parsed.origin, path: parsed.pathname + parsed.search };
    setBounded(targets, url, target, MAX_TARGETS);
    return target;
  }

  return {
    post(exchange) {
      const target = targetOf(exchange.url);
      if (!open) return notSent('the service is stopping');
      if (!target) return notSent('the URL is not valid');
      return new Promise<Answer>((settle) => new Conversation(deps, exchange, target, settle).send()).catch(
        () => notSent('the request could not be made'),
      );
    },
    async close() {
      open = false;
      await deps.pools.close();
    },
  };
}

function notSent(reason: string): Promise<Answer> {
  return Promise.resolve({ kind: 'unreachable', reason, durationMs: 0 });
}
