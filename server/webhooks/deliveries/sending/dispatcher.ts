import { createPolling } from '../../../infrastructure/background/polling.ts';
import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { coalesce } from '../../../infrastructure/runtime/coalesce.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { runEveryStep } from '../../../infrastructure/runtime/shutdown.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery } from '../delivery.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { createClaims } from '../queue/claims.ts';
import { createEndpointNotices } from '../queue/endpoint-changes/notices.ts';
import { createLanes } from '../queue/lanes/lanes.ts';
import { createLease } from '../queue/lease.ts';
import { watchQueue } from '../queue/queue-metrics.ts';
import { createReleases } from '../queue/releases.ts';
import { createRecorder } from '../recording/recorder.ts';
import type { Attempt } from './attempt.ts';

/** Channel on which a process wakes the dispatchers of all others. */
const CHANNEL = 'deliveries';
const MAX_POLL_INTERVAL_MS = 1_000;
const MIN_POLL_INTERVAL_MS = 10;

export type Dispatcher = ReturnType<typeof createDispatcher>;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  guids: Guids;
  log: Log;
  metrics: Metrics;
  notifications: Notifications;
  subscriptions: Subscriptions;
  attempt: Attempt;
  live: LiveFeed;
  /** Enqueues a batch of a requested redelivery; returns whether there may be more. */
  runRedeliveryStep(): Promise<boolean>;
};

/**
 * Sends deliveries claimed from the queue or accepted directly from `enqueue`. Any number of dispatchers share one
 * database: when one dies, its lease expires and the others take over its deliveries.
 */
export function createDispatcher(deps: Deps) {
  const { database, clock, timers, guids, log, metrics, notifications, subscriptions } = deps;
  const { attempt, live, runRedeliveryStep } = deps;
  let running = false;
  let stopping: Promise<void> | undefined;

  const lease = createLease({
    ...{ database, clock, timers, guids, log },
    onLost: () => void lanes.empty(),
    async onExpired() {
      lanes.refresh(await subscriptions.endpoints(lanes.holding()));
    },
    onRenewed() {
      lanes.resume();
      void notices.read();
    },
  });
  const recorder = createRecorder({
    ...{ database, timers, log, metrics, subscriptions },
    holder: lease.lastHolder,
    onRescheduled: (dueAt) => polling.wakeAt(dueAt),
    onActivated: (guids) => void announceActivated(guids),
    onRecorded: live.note,
  });
  const releases = createReleases({
    ...{ database, lease },
    lanes: () => lanes,
    onReleased: () => polling.wake(),
  });
  const lanes = createLanes({
    ...{ clock, timers, attempt },
    record: recorder.record,
    holder: lease.holder,
    requeue: releases.requeue,
    onRefillNeeded: () => polling.wake(),
  });
  const claims = createClaims({
    database,
    clock,
    log,
    metrics,
    subscriptions,
    lanes,
    lease,
    releases,
    accept,
  });
  const notices = createEndpointNotices({
    ...{ database, clock, guids, log, notifications, subscriptions, lanes, lease },
    onChanged() {
      if (running) polling.wake();
    },
  });
  const polling = createPolling({
    ...{ clock, timers, log, maxIntervalMs: MAX_POLL_INTERVAL_MS, minIntervalMs: MIN_POLL_INTERVAL_MS },
    failureMessage: 'could not read the delivery queue; retrying',
    async poll() {
      await lease.ensure();
      await releases.retry();
      const { claimed, nextDueAt } = await claims.take();
      const more = await runRedeliveryStep().catch((error: unknown) => {
        log.warn({ err: error }, 'redelivery step failed; retrying at the next poll');
        return false;
      });
      return { progress: claimed > 0 || more, nextDueAt };
    },
  });

  async function announceActivated(subscriptionGuids: readonly string[]): Promise<void> {
    try {
      announce(await subscriptions.endpoints(subscriptionGuids));
    } catch (error) {
      // The next poll finds their deliveries anyway.
      log.debug({ reason: String(error) }, 'could not read the activated subscriptions');
    }
  }

  /**
   * Deliveries whose endpoint was read in an earlier term of the lease are released: it may be paused by now, and the
   * lease may be lost, so that an outcome could not be recorded.
   */
  function accept(endpoint: Endpoint, deliveries: readonly Delivery[], holder: string): void {
    if (endpoint.leaseTerm === lease.term()) {
      lanes.add(endpoint, deliveries);
      return;
    }
    lanes.unreserve(endpoint.guid, deliveries.length);
    releases.release(deliveries, holder);
  }

  /** Wakes this dispatcher and all others: the queue has deliveries for these endpoints. */
  function announce(endpoints: readonly Endpoint[]): void {
    if (endpoints.length === 0) return;
    if (running) for (const endpoint of endpoints) if (lanes.announce(endpoint)) polling.wake();
    void notifyDispatchers();
  }

  const notifyDispatchers = coalesce(() =>
    notifications
      .notify(CHANNEL)
      .catch((error: unknown) => log.debug({ reason: String(error) }, 'could not wake the dispatchers')),
  );

  /** Stops claiming, then finishes the requests in flight and records their outcomes. */
  function stopSending(): Promise<void> {
    if (!running) return stopping ?? Promise.resolve();
    running = false;
    const { inFlight, held } = lanes.figures();
    const level = held > 0 ? 'info' : 'debug';
    log[level]({ in_flight: inFlight, held }, 'stopping the dispatcher');
    // A failing database must not keep the later steps from being tried.
    stopping = runEveryStep([lanes.stop, polling.stop, idle, recorder.stop]);
    return stopping;
  }

  /** Resolves when no request is in flight and its outcome is recorded. */
  async function idle(): Promise<void> {
    await lanes.idle();
    await recorder.flush();
  }

  watchQueue({ metrics, clock, database, figures: lanes.figures });

  return {
    /** The lease holder guid of this process; undefined while it does not dispatch. */
    holder: () => (running ? lease.holder() : undefined),
    reserve: lanes.reserveNew,
    unreserve: (endpoint: Endpoint, count: number) => lanes.unreserve(endpoint.guid, count),
    leaseTerm: lease.term,
    /** Takes over deliveries that were leased to `holder` and have a reservation. */
    accept,
    release: releases.release,

    announce,
    announceChange: notices.announce,
    takeOverExpired: lease.takeOverExpired,

    async start(): Promise<void> {
      await lease.start();
      running = true;
      await notices.listen();
      await notifications.listen(CHANNEL, polling.wake);
      await live.start();
      polling.wake();
    },

    /** Claims due deliveries, as every poll does; returns whether there may be more. */
    poll: polling.once,
    idle,
    figures: lanes.figures,

    stopSending,

    /** Stops sending, then releases the remaining deliveries. */
    async stop(): Promise<void> {
      if (!running && !stopping) return;
      // The end of the lease skips rows that a release has locked, and the database is closed next.
      await runEveryStep([stopSending, live.stop, releases.idle, lease.stop]);
    },
  };
}
