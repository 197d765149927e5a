import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { createDelayedFlush } from '../../../infrastructure/runtime/delayed-flush.ts';
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

/** Interest expires, so that a dead node with viewers costs nothing for long. */
const INTEREST_MS = 30_000;
const FLUSH_EVERY_MS = 250;
/** Organizations: more than fifty processes have streams for. */
const MAX_WATCHED = 10_000;
/** Attempts between two notifications, for all Organizations together. */
const MAX_COLLECTED = 10_000;

type Deps = { notifications: Notifications; clock: Clock; timers: Timers; metrics: Metrics; log: Log };

/** Attempts of a watched Organization, and how many exceeded the rate. */
type Watched = {
  until: number;
  isWithinRate(nowMs: number): boolean;
  attempts: LiveAttempt[];
  dropped: number;
};

/** Notifies live viewers on all nodes of recorded attempts, a few times per second. Costs nothing without viewers. */
export function createLiveFeed({ notifications, clock, timers, metrics, log }: Deps) {
  const watched = new Map<string, Watched>();
  let collected = 0;

  metrics.onRead(async () => {
    deleteExpired();
    metrics.liveWatched.set(watched.size);
  });

  function deleteExpired(): void {
    const now = clock.now().getTime();
    for (const [guid, { until }] of watched) if (until <= now) watched.delete(guid);
  }

  function onInterest(payload: string | undefined): void {
    deleteExpired();
    const until = clock.now().getTime() + INTEREST_MS;
    for (const guid of readInterest(payload ?? '')) {
      const known = watched.get(guid);
      if (known) known.until = until;
      else if (watched.size < MAX_WATCHED)
        watched.set(guid, { until, isWithinRate: createLiveThrottle(), attempts: [], dropped: 0 });
    }
  }

  function takePayloads(): string[] {
    const payloads: string[] = [];
    collected = 0;
    for (const [guid, each] of watched) {
      if (each.attempts.length === 0 && each.dropped === 0) continue;
      payloads.push(...attemptPayloads(guid, each.attempts, each.dropped));
      each.attempts = [];
      each.dropped = 0;
    }
    return payloads;
  }

  const flushing = createDelayedFlush({
    timers,
    delayMs: FLUSH_EVERY_MS,
    async write() {
      const payloads = takePayloads();
      if (payloads.length === 0) return;
      await notifications
        .notify(ATTEMPTS_CHANNEL, payloads)
        .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not notify live viewers'));
    },
  });

  return {
    start: () => notifications.listen(INTEREST_CHANNEL, onInterest),

    note({ outcomes, failingSince }: Recorded): void {
      if (watched.size === 0) return;
      const now = clock.now().getTime();
      for (const outcome of outcomes) {
        const { guid, organizationGuid } = outcome.delivery;
        const own = watched.get(organizationGuid);
        if (!own || own.until <= now) continue;
        // While the database is slow, at most a second's worth is collected.
        const fits = own.attempts.length < MAX_LIVE_PER_SECOND && collected < MAX_COLLECTED;
        if (own.isWithinRate(now) && fits) {
          own.attempts.push(liveAttemptOf(outcome, failingSince.get(guid)));
          collected += 1;
        } else own.dropped += 1;
        flushing.schedule();
      }
    },

    async stop(): Promise<void> {
      await flushing.flush();
    },
  };
}
