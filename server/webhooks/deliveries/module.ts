import type { Base } from '../../infrastructure/base.ts';
import type { Notifications } from '../../infrastructure/database/connections/notifications.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { createLiveFeed } from './live/live-feed.ts';
import { createNewUrl } from './queue/endpoint-changes/new-url.ts';
import { createPausedSweep } from './queue/endpoint-changes/paused-sweep.ts';
import { createEnqueue } from './queue/enqueue.ts';
import { createOrphans } from './queue/orphans.ts';
import { createAttempt } from './sending/attempt.ts';
import { createDispatcher } from './sending/dispatcher.ts';
import { createSchedule } from './sending/schedule.ts';
import type { Sender } from './sending/sender.ts';

export type DeliveriesModule = ReturnType<typeof createDeliveriesModule>;

type Deps = Base & {
  timers: Timers;
  notifications: Notifications;
  subscriptions: Subscriptions;
  sender: Sender;
  randomBytes: RandomBytes;
  settings: { retryMaxDelayMs: number; webhookAllowPrivate: boolean };
  runRedeliveryStep(): Promise<boolean>;
};

/** Creates deliveries from events, sends them and records the outcomes; see README.md. */
export function createDeliveriesModule(deps: Deps) {
  const { sender, settings, randomBytes } = deps;
  const random = () => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32;
  const schedule = createSchedule({ maxDelayMs: settings.retryMaxDelayMs, random });
  const attempt = createAttempt({ ...deps, schedule, allowPrivate: settings.webhookAllowPrivate });
  const dispatcher = createDispatcher({ ...deps, attempt, live: createLiveFeed(deps) });
  const { enqueue, enqueueFor } = createEnqueue({ ...deps, dispatcher });

  return {
    dispatcher,
    enqueue,
    enqueueFor,
    ...createNewUrl({ clock: deps.clock, enqueueFor }),
    ...createOrphans(deps),
    ...createPausedSweep(deps),
    stopSending: dispatcher.stopSending,
    stop: dispatcher.stop,
    /** Terminates the sender thread and its requests in flight. */
    closeSender: sender.close,
  };
}
