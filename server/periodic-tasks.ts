import type { AlertsModule } from './alerts/module.ts';
import type { KeyUsage } from './credentials/applications/usage.ts';
import type { FilesModule } from './files/module.ts';
import type { FailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import { createClusterTasks, createNodeTasks } from './infrastructure/background/periodic-tasks.ts';
import type { Database } from './infrastructure/database/database.ts';
import type { Partitions } from './infrastructure/database/partitions/partitions.ts';
import type { IdempotencyKeys } from './infrastructure/idempotency/service.ts';
import type { RateLimits } from './infrastructure/rate-limits/service.ts';
import type { Log } from './infrastructure/runtime/log.ts';
import type { Transfers } from './operator/transfer/service.ts';
import type { LoginModule } from './people/login/service.ts';
import type { Tokens } from './tokens/service.ts';
import type { DeliveriesModule } from './webhooks/deliveries/module.ts';
import type { EventCounters } from './webhooks/events/counters.ts';
import type { InboxesModule } from './webhooks/inboxes/module.ts';
import type { Subscriptions } from './webhooks/subscriptions/service.ts';

export type PeriodicTasks = ReturnType<typeof createPeriodicTasks>;

type Deps = {
  database: Database;
  log: Log;
  usage: KeyUsage;
  failedAuthentications: FailedAuthentications;
  rateLimits: RateLimits;
  tokens: Tokens;
  login: LoginModule;
  partitions: Partitions;
  subscriptions: Subscriptions;
  inboxesModule: InboxesModule;
  eventCounters: EventCounters;
  idempotencyKeys: IdempotencyKeys;
  deliveriesModule: DeliveriesModule;
  filesModule: FilesModule;
  alertsModule: AlertsModule;
  transfers: Transfers;
};

/** The periodic tasks of all modules. */
export function createPeriodicTasks(deps: Deps) {
  const { database, log, usage, failedAuthentications, rateLimits, tokens, login, partitions } = deps;
  const { subscriptions, eventCounters, idempotencyKeys, deliveriesModule, filesModule, alertsModule } = deps;

  const nodeTasks = createNodeTasks({
    log,
    tasks: [
      { name: 'key usage', run: usage.flush },
      { name: 'denials', run: tokens.denials.flush },
      { name: 'failed authentications', run: failedAuthentications.flush },
      { name: 'rate limits', run: rateLimits.sweep },
      { name: 'revocations', run: tokens.revocations.sweep },
      { name: 'signing keys', run: tokens.signingKeys.sweep },
      { name: 'logins', run: login.sweep },
      // Also on nodes that only serve the API: they must not run out of partitions when no other node runs.
      { name: 'partitions', run: partitions.prepare },
    ],
  });

  const clusterTasks = createClusterTasks({
    database,
    log,
    tasks: [
      { name: 'deleted subscriptions', run: subscriptions.sweepDeleted },
      { name: 'failed subscriptions', run: subscriptions.sweepFailed },
      { name: 'alerts about failing endpoints', run: alertsModule.checkFailing },
      { name: 'alerts about waiting deliveries', run: alertsModule.checkWaiting },
      { name: 'old alerts', run: alertsModule.sweep },
      { name: 'redeliveries', run: deliveriesModule.redeliveries.sweep },
      { name: 'old requests of inboxes', run: deps.inboxesModule.inboxes.sweep },
      { name: 'writers of event counts', run: eventCounters.sweep },
      { name: 'orphaned deliveries', run: deliveriesModule.sweepOrphans },
      { name: 'held deliveries', run: deliveriesModule.sweepHeld },
      { name: 'interrupted freezes', run: deps.transfers.resumeInterrupted },
      { name: 'idempotency keys', run: idempotencyKeys.sweep },
      { name: 'retention', run: partitions.dropOld },
      { name: 'file deletions', run: filesModule.sweepDeletions },
      { name: 'unfinished uploads', run: filesModule.sweepUnfinishedUploads },
      { name: 'orphaned content', run: filesModule.sweepOrphans },
    ],
  });

  return { nodeTasks, clusterTasks };
}
