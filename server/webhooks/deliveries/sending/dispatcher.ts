import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { runEveryStep } from '../../../infrastructure/runtime/shutdown.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Delivery } from '../delivery.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { named, requeueBatches } from '../queue/batch-store.ts';
import { createClaims } from '../queue/claims.ts';
import { createLanes } from '../queue/lanes/lanes.ts';
import { createLease } from '../queue/lease.ts';
import { watchQueue } from '../queue/queue-metrics.ts';
import { createQueuePolling } from '../queue/queue-polling.ts';
import { releaseDeliveries } from '../queue/queue-store.ts';
import { createRecorder } from '../recording/recorder.ts';
import type { Attempt } from './attempt.ts';

/** Channel on which processes tell each other that something waits in the queue. */
const CHANNEL = 'deliveries';
const RELEASE_RETRY_MS = 1_000;

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
  /** Further durable work that goes on while there is any; true when there may be more at once. */
  runRedeliveryStep(): Promise<boolean>;
};

/**
 * Takes deliveries from the queue, or straight from those who make them, and sends them. Any number of these share
 * one database; what one holds when it dies, the others take.
 */
export function createDispatcher(deps: Deps) {
  const { database, clock, timers, guids, log, metrics, notifications, subscriptions } = deps;
  const { attempt, live, runRedeliveryStep } = deps;
  let running = false;
  /** Since the last look at the queue, so there is more to send. */
  let activated = false;
  let stopping: Promise<void> | undefined;

  const lease = createLease({
    ...{ database, clock, timers, guids, log },
    onLost: () => void lanes.empty(),
    onRenewed: () => lanes.resume(),
  });
  const recorder = createRecorder({
    ...{ database, timers, log, metrics, subscriptions },
    holder: lease.lastHolder,
    onRescheduled: (dueAt) => polling.wakeAt(dueAt),
    onActivated(guids) {
      activated = true;
      void releaseWaiting(guids);
    },
    onRecorded: live.note,
  });
  const lanes = createLanes({
    ...{ clock, timers, attempt },
    record: recorder.record,
    isHeld: () => lease.holder() !== undefined,
    requeue,
    onRefillNeeded: () => polling.wake(),
  });
  const claims = createClaims({ database, clock, log, metrics, subscriptions, lanes, lease });
  const polling = createQueuePolling({
    ...{ clock, timers, log },
    async work() {
      await lease.ensure();
      const { claimed, nextDueAt } = await claims.take();
      const more = await runRedeliveryStep().catch((error: unknown) => {
        log.warn({ err: error }, 'the work runRedeliveryStep failed; the next round tries again');
        return false;
      });
      return { progress: claimed > 0 || more, nextDueAt };
    },
  });

  let requeued: Delivery[] = [];
  /** Endpoints that stop answering together time out together: what they hand back shares a transaction. */
  function requeue(deliveries: readonly Delivery[]): void {
    if (requeued.length === 0)
      setImmediate(() => {
        const all = requeued;
        requeued = [];
        release(all);
      });
    requeued = requeued.concat(deliveries);
  }

  function release(deliveries: readonly Delivery[]): void {
    const holder = lease.lastHolder();
    if (holder === undefined || deliveries.length === 0) return;
    database
      .transaction(async (transaction) => {
        await preferIndexes(transaction);
        const batches = new Set(deliveries.flatMap(({ batch }) => batch?.guid ?? []));
        const held = lanes.heldGuidsOf(new Set(deliveries.map(({ subscriptionGuid }) => subscriptionGuid)));
        await requeueBatches(transaction, named([...batches]), { holder, held });
        await releaseDeliveries(transaction, holder, deliveries);
      })
      .then(
        () => polling.wake(),
        // After the stop the lease runs out, and others take them.
        () => running && timers.after(RELEASE_RETRY_MS, () => release(deliveries)),
      );
  }

  /** What waited for the first 2xx of these endpoints can be sent now, by every dispatcher. */
  async function releaseWaiting(subscriptionGuids: readonly string[]): Promise<void> {
    try {
      announce(await subscriptions.endpoints(subscriptionGuids));
    } catch (error) {
      // The next look at the queue finds them all the same.
      log.debug({ reason: String(error) }, 'could not read the activated subscriptions');
    }
  }

  /** Something waits for these in the queue. */
  function announce(endpoints: readonly Endpoint[]): void {
    if (endpoints.length === 0) return;
    if (running) for (const endpoint of endpoints) if (lanes.announce(endpoint)) polling.wake();
    void notifyDispatchers();
  }

  let announcing = false;
  let announceAgain = false;
  /** Outside of every transaction, and what comes while one is on its way shares the next. */
  async function notifyDispatchers(): Promise<void> {
    if (announcing) {
      announceAgain = true;
      return;
    }
    announcing = true;
    do {
      announceAgain = false;
      await notifications
        .notify(CHANNEL)
        .catch((error: unknown) => log.debug({ reason: String(error) }, 'the dispatchers were not woken'));
    } while (announceAgain);
    announcing = false;
  }

  /** Stops taking, finishes what is under way and writes it down. */
  function stopSending(): Promise<void> {
    if (!running) return stopping ?? Promise.resolve();
    running = false;
    const { inFlight, held } = lanes.figures();
    const level = held > 0 ? 'info' : 'debug';
    log[level](
      { in_flight: inFlight, held },
      'stops dispatching: finishes what is under way, gives back the rest',
    );
    // A failing database must not keep the later steps from being tried.
    stopping = runEveryStep([lanes.stop, polling.stop, lanes.idle, recorder.stop]);
    return stopping;
  }

  watchQueue({ metrics, clock, database, figures: lanes.figures });

  return {
    /** The name under which this process takes deliveries, when it dispatches at all. */
    holder: () => (running ? lease.holder() : undefined),
    reserve: lanes.reserveNew,
    unreserve: (endpoint: Endpoint, count: number) => lanes.unreserve(endpoint.guid, count),
    accept: lanes.add,
    release,

    announce,

    async start(): Promise<void> {
      await lease.start();
      running = true;
      await notifications.listen(CHANNEL, polling.wake);
      await live.start();
      polling.wake();
    },

    /** Sends everything that is due now and writes it down. */
    async drain(): Promise<void> {
      await lease.renewed();
      for (let progress = true; progress || !lanes.isIdle(); ) {
        progress = await polling.once();
        await lanes.idle();
        // What is written down makes room for more to be sent.
        await recorder.flush();
        progress ||= activated;
        activated = false;
      }
    },

    stopSending,

    /** Stops sending, then gives the rest back. */
    async stop(): Promise<void> {
      if (!running && !stopping) return;
      await runEveryStep([stopSending, live.stop, lease.stop]);
    },
  };
}
