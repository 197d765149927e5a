import type { AlertsModule } from './alerts/module.ts';
import type { KeyUsage } from './credentials/applications/usage.ts';
import type { FilesModule } from './files/module.ts';
import type { FailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import type { Notifications } from './infrastructure/database/connections/notifications.ts';
import type { Database } from './infrastructure/database/database.ts';
import type { HttpServer } from './infrastructure/http/server.ts';
import type { RateLimits } from './infrastructure/rate-limits/service.ts';
import type { Phase } from './infrastructure/runtime/shutdown.ts';
import type { Simulator } from './objects/simulator.ts';
import type { LoginModule } from './people/login/service.ts';
import type { PeriodicTasks } from './periodic-tasks.ts';
import type { RequestRecorder } from './request-log/recorder.ts';
import type { Tokens } from './tokens/service.ts';
import type { DeliveriesModule } from './webhooks/deliveries/module.ts';
import type { EventCounters } from './webhooks/events/counters.ts';

type Deps = {
  server: HttpServer;
  deliveriesModule: DeliveriesModule;
  alertsModule: AlertsModule;
  simulator: Simulator;
  periodicTasks: PeriodicTasks;
  filesModule: FilesModule;
  tokens: Tokens;
  failedAuthentications: FailedAuthentications;
  usage: KeyUsage;
  eventCounters: EventCounters;
  rateLimits: RateLimits;
  requestRecorder: RequestRecorder;
  login: LoginModule;
  notifications: Notifications;
  database: Database;
};

/** Stops input first, then flushes pending writes, and closes the database last. */
export function shutdownPhases(deps: Deps): Phase[] {
  const { server, deliveriesModule, alertsModule, simulator, periodicTasks, filesModule, tokens } = deps;
  const {
    failedAuthentications,
    usage,
    eventCounters,
    rateLimits,
    requestRecorder,
    login,
    notifications,
    database,
  } = deps;
  return [
    {
      share: 0.65,
      steps: [
        ['requests', () => server.close()],
        ['sending', deliveriesModule.stopSending],
        ['alerts', alertsModule.notifier.stop],
        ['simulator', simulator.stop],
        ['cluster tasks', periodicTasks.clusterTasks.stop],
        ['node tasks', periodicTasks.nodeTasks.stop],
      ],
    },
    {
      share: 0.1,
      steps: [
        // After the requests, so that deliveries they committed meanwhile are requeued too.
        ['deliveries', deliveriesModule.stop],
        ['sender thread', deliveriesModule.closeSender],
        ['files', filesModule.stop],
      ],
    },
    {
      share: 0.1,
      steps: [
        ['denials', () => tokens.denials.flush({ all: true })],
        ['failed authentications', () => failedAuthentications.flush({ all: true })],
        ['key usage', usage.flush],
        ['event counters', () => eventCounters.flush({ last: true })],
        ['counts of failed deliveries', () => deliveriesModule.flushCounts({ last: true })],
        ['rate limits', rateLimits.flush],
        ['request log', () => requestRecorder.flush({ last: true })],
        ['login', login.close],
        ['revocations', tokens.revocations.stop],
      ],
    },
    {
      share: 0.15,
      steps: [
        ['notifications', notifications.close],
        ['database', database.close],
      ],
    },
  ];
}
