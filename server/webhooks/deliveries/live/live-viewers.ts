import type { Readable } from 'node:stream';
import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import { type Clock, hasPassed, type Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { refusalOfStream } from '../../streams.ts';
import {
  ATTEMPTS_CHANNEL,
  INTEREST_CHANNEL,
  interestPayload,
  organizationOf,
  readAttempts,
} from './live-messages.ts';
import { createLiveStream, type LiveFilters, type LiveStream } from './live-stream.ts';

export type LiveViewers = ReturnType<typeof createLiveViewers>;

const TICK_MS = 1_000;
/** A third of the interest's lifetime, so that one lost notification does no harm. */
const RENEW_EVERY_MS = 10_000;

type Deps = { notifications: Notifications; clock: Clock; timers: Timers; metrics: Metrics; log: Log };

type Viewer = LiveStream & {
  organizationGuid: string;
  /** Whether the token is still valid. */
  isAllowed(): boolean | Promise<boolean>;
};

/** The live streams of this process: tells all recorders which Organizations are watched and forwards their attempts. */
export function createLiveViewers({ notifications, clock, timers, metrics, log }: Deps) {
  const viewers = new Set<Viewer>();
  let listening: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let announcedAt = 0;
  let closed = false;

  const now = () => clock.now().getTime();
  const of = (guid: string) => [...viewers].filter(({ organizationGuid }) => organizationGuid === guid);

  const refusal = (organizationGuid: string) =>
    refusalOfStream('Live stream', organizationGuid, { open: [...viewers], isClosed: closed });

  /** Checks the token before every message. */
  function ifAllowed(viewer: Viewer, action: () => void): void {
    const proceed = (isAllowed: boolean) => (isAllowed ? action() : viewer.end());
    const allowed = viewer.isAllowed();
    if (typeof allowed === 'boolean') proceed(allowed);
    else void allowed.then(proceed, () => viewer.end());
  }

  function onAttempts(payload: string | undefined): void {
    if (payload === undefined) return;
    const watching = of(organizationOf(payload));
    if (watching.length === 0) return;
    const message = readAttempts(payload);
    if (!message) return;
    const { attempts, dropped } = message;
    for (const viewer of watching) ifAllowed(viewer, () => viewer.offer(attempts, dropped, now()));
  }

  /** The guids of as many Organizations as there can be streams fit into one notification. */
  async function announceInterest(organizationGuids: readonly string[]): Promise<void> {
    await notifications
      .notify(INTEREST_CHANNEL, [interestPayload(organizationGuids)])
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not announce live viewers'));
  }

  function tickLater(): void {
    cancel ??= timers.after(TICK_MS, () => {
      cancel = undefined;
      if (viewers.size === 0) return;
      tickLater();
      for (const viewer of viewers) ifAllowed(viewer, () => viewer.tick(now()));
      if (!hasPassed(RENEW_EVERY_MS, announcedAt, now())) return;
      announcedAt = now();
      void announceInterest([...new Set([...viewers].map(({ organizationGuid }) => organizationGuid))]);
    });
  }

  function add(viewer: Viewer): void {
    if (viewers.size === 0) announcedAt = now();
    viewers.add(viewer);
    metrics.liveViewers.set(viewers.size);
    viewer.stream.once('close', () => {
      viewers.delete(viewer);
      metrics.liveViewers.set(viewers.size);
    });
    tickLater();
  }

  return {
    async open(
      organizationGuid: string,
      filters: LiveFilters,
      isAllowed: Viewer['isAllowed'],
    ): Promise<Readable | Failure> {
      const refused = refusal(organizationGuid);
      if (refused) return refused;
      const viewer = { ...createLiveStream(filters, now()), organizationGuid, isAllowed };
      add(viewer);
      // `listen` is repeated by the notifications whenever the connection is back.
      listening ??= notifications
        .listen(ATTEMPTS_CHANNEL, onAttempts)
        .catch((error: unknown) =>
          log.warn({ reason: String(error) }, 'could not listen for live attempts; waiting for the database'),
        );
      await listening;
      await announceInterest([organizationGuid]);
      return viewer.stream;
    },

    /** Ends every stream, because open streams would delay the shutdown of the server. */
    stop(): void {
      closed = true;
      cancel?.();
      for (const viewer of viewers) viewer.end();
    },
  };
}
