import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Recorded } from '../recording/recorder.ts';
import {
  ATTEMPTS_CHANNEL,
  attemptPayloads,
  INTEREST_CHANNEL,
  type LiveAttempt,
  liveAttemptOf,
  readInterest,
} from './live-messages.ts';
import { createLiveThrottle, MAX_LIVE_PER_SECOND } from './live-throttle.ts';

export type LiveFeed = ReturnType<typeof createLiveFeed>;

/** Interest ends by itself, so that a node that died with its viewers costs nothing for long. */
const INTEREST_MS = 30_000;
const FLUSH_EVERY_MS = 250;
/** Organizations; whoever comes later is told of nothing until there is room. */
const MAX_WATCHED = 100;

type Deps = { notifications: Notifications; clock: Clock; timers: Timers; metrics: Metrics; log: Log };

/** What somebody watches: what is to be told of it, and what was too much to tell. */
type Watched = {
  until: number;
  isWithinRate(nowMs: number): boolean;
  attempts: LiveAttempt[];
  dropped: number;
};

/**
 * Tells of attempts as they are recorded, to whoever watches on any node. Nothing is written and nobody waits for it:
 * a few messages a second while somebody watches, and not even a look at the outcomes while nobody does.
 */
export function createLiveFeed({ notifications, clock, timers, metrics, log }: Deps) {
  const watched = new Map<string, Watched>();
  let cancel: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  metrics.onRead(async () => {
    forgetUnwatched();
    metrics.liveWatched.set(watched.size);
  });

  function forgetUnwatched(): void {
    const now = clock.now().getTime();
    for (const [guid, { until }] of watched) if (until <= now) watched.delete(guid);
  }

  function hear(payload: string | undefined): void {
    forgetUnwatched();
    const until = clock.now().getTime() + INTEREST_MS;
    for (const guid of readInterest(payload ?? '')) {
      const known = watched.get(guid);
      if (known) known.until = until;
      else if (watched.size < MAX_WATCHED)
        watched.set(guid, { until, isWithinRate: createLiveThrottle(), attempts: [], dropped: 0 });
    }
  }

  function flushLater(): void {
    cancel ??= timers.after(FLUSH_EVERY_MS, () => {
      cancel = undefined;
      void flush();
    });
  }

  function takePayloads(): string[] {
    const payloads: string[] = [];
    for (const [guid, each] of watched) {
      if (each.attempts.length === 0 && each.dropped === 0) continue;
      payloads.push(...attemptPayloads(guid, each.attempts, each.dropped));
      each.attempts = [];
      each.dropped = 0;
    }
    return payloads;
  }

  async function flush(): Promise<void> {
    while (sending) await sending;
    const payloads = takePayloads();
    if (payloads.length === 0) return;
    sending = notifications
      .notify(ATTEMPTS_CHANNEL, payloads)
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'those who watch were not told'))
      .finally(() => {
        sending = undefined;
      });
    await sending;
  }

  return {
    start: () => notifications.listen(INTEREST_CHANNEL, hear),

    note({ outcomes, failingSince }: Recorded): void {
      if (watched.size === 0) return;
      const now = clock.now().getTime();
      for (const outcome of outcomes) {
        const { guid, organizationGuid } = outcome.delivery;
        const own = watched.get(organizationGuid);
        if (!own || own.until <= now) continue;
        // When the database is slow they gather, but no more than a second's worth.
        if (own.isWithinRate(now) && own.attempts.length < MAX_LIVE_PER_SECOND)
          own.attempts.push(liveAttemptOf(outcome, failingSince.get(guid)));
        else own.dropped += 1;
        flushLater();
      }
    },

    async stop(): Promise<void> {
      await flush();
      cancel?.();
      cancel = undefined;
    },
  };
}
