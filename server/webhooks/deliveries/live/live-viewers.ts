import type { Readable } from 'node:stream';
import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import {
  ATTEMPTS_CHANNEL,
  INTEREST_CHANNEL,
  interestPayload,
  organizationOf,
  readAttempts,
} from './live-messages.ts';
import { createLiveStream, type LiveFilters, type LiveStream } from './live-stream.ts';

export type LiveViewers = ReturnType<typeof createLiveViewers>;

/** Streams of this process. All their Organizations have to fit into one message of interest. */
const MAX_VIEWERS = 200;
const MAX_VIEWERS_OF_ORGANIZATION = 20;
const TRY_AGAIN_SECONDS = 15;
const TICK_MS = 1_000;
/** A third of how long interest lasts, so that one lost message is not noticed. */
const RENEW_EVERY_MS = 10_000;

type Deps = { notifications: Notifications; clock: Clock; timers: Timers; metrics: Metrics; log: Log };

type Viewer = LiveStream & {
  organizationGuid: string;
  /** Whether its token is still good. */
  isAllowed(): boolean | Promise<boolean>;
};

/** Those who watch deliveries through this process: tells every recorder whom for, and hands on what these tell. */
export function createLiveViewers({ notifications, clock, timers, metrics, log }: Deps) {
  const viewers = new Set<Viewer>();
  let listening: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let renewAt = 0;
  let closed = false;

  const now = () => clock.now().getTime();
  const of = (guid: string) => [...viewers].filter(({ organizationGuid }) => organizationGuid === guid);

  function refusal(organizationGuid: string): Failure | undefined {
    const later = { retryAfterSeconds: TRY_AGAIN_SECONDS };
    if (closed || viewers.size >= MAX_VIEWERS)
      return new Failure('overloaded', 'Limit of live streams reached on this node', later);
    if (of(organizationGuid).length >= MAX_VIEWERS_OF_ORGANIZATION)
      return new Failure(
        'api_rate_limit_exceeded',
        `An Organization has at most ${MAX_VIEWERS_OF_ORGANIZATION} live streams at a node; close one first`,
        later,
      );
    return undefined;
  }

  /** Asked every time before something is handed over; whoever cannot prove it is sent away. */
  function ifAllowed(viewer: Viewer, action: () => void): void {
    const conclude = (isAllowed: boolean) => (isAllowed ? action() : viewer.end());
    const allowed = viewer.isAllowed();
    if (typeof allowed === 'boolean') conclude(allowed);
    else void allowed.then(conclude, () => viewer.end());
  }

  function hear(payload: string | undefined): void {
    if (payload === undefined) return;
    const watching = of(organizationOf(payload));
    if (watching.length === 0) return;
    const told = readAttempts(payload);
    if (!told) return;
    for (const viewer of watching) ifAllowed(viewer, () => viewer.offer(told.attempts, told.dropped, now()));
  }

  async function tell(organizationGuids: readonly string[]): Promise<void> {
    await notifications
      .notify(INTEREST_CHANNEL, [interestPayload(organizationGuids)])
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'nobody was told who watches'));
  }

  function tickLater(): void {
    cancel ??= timers.after(TICK_MS, () => {
      cancel = undefined;
      if (viewers.size === 0) return;
      tickLater();
      for (const viewer of viewers) ifAllowed(viewer, () => viewer.tick(now()));
      if (now() < renewAt) return;
      renewAt = now() + RENEW_EVERY_MS;
      void tell([...new Set([...viewers].map(({ organizationGuid }) => organizationGuid))]);
    });
  }

  function add(viewer: Viewer): void {
    if (viewers.size === 0) renewAt = now() + RENEW_EVERY_MS;
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
      // Once it was asked for, it is listened for again whenever the connection is back.
      listening ??= notifications
        .listen(ATTEMPTS_CHANNEL, hear)
        .catch((error: unknown) => log.warn({ reason: String(error) }, 'live streams wait for the database'));
      await listening;
      await tell([organizationGuid]);
      return viewer.stream;
    },

    /** Ends every stream, so that nobody who closes the server waits for them. */
    stop(): void {
      closed = true;
      cancel?.();
      for (const viewer of viewers) viewer.end();
    },
  };
}
