import type { Base } from '../../infrastructure/base.ts';
import type { Notifications } from '../../infrastructure/database/connections/notifications.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { EventCounters } from '../events/counters.ts';
import type { Events } from '../events/service.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { createEventStatus } from './event-status/event-status.ts';
import { createEndpointHealth } from './health/health.ts';
import { createLiveFeed } from './live/live-feed.ts';
import { createLiveViewers } from './live/live-viewers.ts';
import { createFirstEvents } from './queue/endpoint-changes/first-events.ts';
import { createHeldSweep } from './queue/endpoint-changes/held-sweep.ts';
import { createEnqueue } from './queue/enqueue.ts';
import { createOrphans } from './queue/orphans.ts';
import { createCreatedAsFailed } from './recording/created-as-failed.ts';
import { createDeliverOnce } from './redelivery/deliver-once.ts';
import { createRedeliveries } from './redelivery/jobs/redeliveries.ts';
import { createTestEvents } from './redelivery/test-events.ts';
import { createAttempt } from './sending/attempt.ts';
import { createDispatcher } from './sending/dispatcher.ts';
import { createSchedule } from './sending/schedule.ts';
import type { Sender } from './sending/sender.ts';
import { createDeliveries } from './service.ts';
import { createDeliveryStatistics } from './statistics/statistics.ts';

export type DeliveriesModule = ReturnType<typeof createDeliveriesModule>;

type Deps = Base & {
  timers: Timers;
  notifications: Notifications;
  rateLimits: RateLimits;
  events: Events;
  eventCounters: EventCounters;
  subscriptions: Subscriptions;
  sender: Sender;
  randomBytes: RandomBytes;
  settings: { retryMaxDelayMs: number; webhookAllowPrivate: boolean; retentionDays: number };
};

/** Creates deliveries from events, sends them, records and shows the outcomes; see README.md. */
export function createDeliveriesModule(deps: Deps) {
  const { database, clock, audit, metrics, log, timers, notifications, rateLimits } = deps;
  const { events, eventCounters, subscriptions, sender, settings, randomBytes } = deps;
  const { retentionDays } = settings;
  const random = () => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32;
  const schedule = createSchedule({ maxDelayMs: settings.retryMaxDelayMs, random });
  const attempt = createAttempt({ ...deps, schedule, allowPrivate: settings.webhookAllowPrivate });
  const dispatcher = createDispatcher({
    ...deps,
    attempt,
    live: createLiveFeed(deps),
    // Called later than it is passed: redeliveries enqueue deliveries, which the dispatcher accepts.
    runRedeliveryStep: () => redeliveries.step(),
  });
  const createdAsFailed = createCreatedAsFailed({ database, timers, log, metrics });
  const { enqueue, enqueueEach, enqueueFor } = createEnqueue({ ...deps, dispatcher, createdAsFailed });
  const redeliveries = createRedeliveries({ ...deps, enqueueFor, retentionDays });
  const deliverOnce = createDeliverOnce({ clock, audit, enqueueFor });
  const deliveries = createDeliveries({ database, clock, events, subscriptions, deliverOnce, retentionDays });

  return {
    deliveries,
    redeliveries,
    testEvents: createTestEvents({ database, clock, events, subscriptions, rateLimits, deliverOnce }),
    eventStatus: createEventStatus({ database, clock, events, deliveries }),
    liveViewers: createLiveViewers({ notifications, clock, timers, metrics, log }),
    statistics: createDeliveryStatistics({ database, clock, subscriptions, eventCounters }),
    endpointHealth: createEndpointHealth({ database, clock, subscriptions, audit }),
    dispatcher,
    flushCounts: createdAsFailed.flush,
    enqueue,
    enqueueFor,
    ...createFirstEvents({ clock, enqueueEach }),
    ...createOrphans(deps),
    ...createHeldSweep(deps),
    stopSending: dispatcher.stopSending,
    stop: dispatcher.stop,
    /** Terminates the sender thread and its requests in flight. */
    closeSender: sender.close,
  };
}
