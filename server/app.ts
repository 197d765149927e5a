import { createDenialAlerts } from './alerts/denials.ts';
import { createAlertsModule } from './alerts/module.ts';
import { createAlerts } from './alerts/service.ts';
import { createKeyPairs } from './credentials/applications/key-pairs.ts';
import { createOrganizations } from './credentials/organizations/service.ts';
import type { DashboardFiles } from './dashboard/files.ts';
import { createFilesModule } from './files/module.ts';
import { createFailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import { createAudit } from './infrastructure/audit/service.ts';
import type { Base } from './infrastructure/base.ts';
import type { CompleteConfig } from './infrastructure/config/generated-secrets.ts';
import { reservedConnections } from './infrastructure/database/connections/bounded-pool.ts';
import { createNotifications } from './infrastructure/database/connections/notifications.ts';
import { createDatabase } from './infrastructure/database/database.ts';
import { createPartitions } from './infrastructure/database/partitions/partitions.ts';
import { createIdempotencyKeys } from './infrastructure/idempotency/service.ts';
import { type Resolve, systemResolve } from './infrastructure/network/resolve.ts';
import { createRateLimits } from './infrastructure/rate-limits/service.ts';
import type { Clock, Timers } from './infrastructure/runtime/clock.ts';
import { createEncryption } from './infrastructure/runtime/encryption.ts';
import { createGuids, type RandomBytes } from './infrastructure/runtime/guid.ts';
import type { Log } from './infrastructure/runtime/log.ts';
import { createMetrics } from './infrastructure/runtime/metrics.ts';
import type { Secret } from './infrastructure/runtime/secret.ts';
import { shutDown } from './infrastructure/runtime/shutdown.ts';
import { createLookup } from './lookup/service.ts';
import { createFeed } from './objects/feed.ts';
import { createPrices } from './objects/market/prices.ts';
import { createObjects } from './objects/service.ts';
import { createSimulator } from './objects/simulator.ts';
import type { PasswordHasher } from './people/login/passwords/passwords.ts';
import { createLoginModule } from './people/login/service.ts';
import { createPeople } from './people/members/people.ts';
import { createMembers } from './people/members/service.ts';
import { createPeriodicTasks } from './periodic-tasks.ts';
import { createRequestRecorder } from './request-log/recorder.ts';
import { createRequestLog } from './request-log/service.ts';
import { createServers } from './servers.ts';
import { shutdownPhases } from './shutdown.ts';
import { createTokenEndpoints, createTokens } from './tokens/service.ts';
import { createEventStatus } from './webhooks/deliveries/event-status/event-status.ts';
import { createEndpointHealth } from './webhooks/deliveries/health/health.ts';
import { createLiveViewers } from './webhooks/deliveries/live/live-viewers.ts';
import { createDeliveriesModule } from './webhooks/deliveries/module.ts';
import { createDeliverOnce } from './webhooks/deliveries/redelivery/deliver-once.ts';
import { createRedeliveries } from './webhooks/deliveries/redelivery/jobs/redeliveries.ts';
import { createTestEvents } from './webhooks/deliveries/redelivery/test-events.ts';
import type { Sender } from './webhooks/deliveries/sending/sender.ts';
import { createTransport } from './webhooks/deliveries/sending/transport.ts';
import { createDeliveries } from './webhooks/deliveries/service.ts';
import { createDeliveryStatistics } from './webhooks/deliveries/statistics/statistics.ts';
import { createEventCounters } from './webhooks/events/counters.ts';
import { createIngest } from './webhooks/events/ingest.ts';
import { createEvents } from './webhooks/events/service.ts';
import { createEventStreams } from './webhooks/events/stream/event-streams.ts';
import { createSubscriptions } from './webhooks/subscriptions/service.ts';

export type App = Awaited<ReturnType<typeof createApp>>;

type Deps = {
  config: CompleteConfig;
  databaseUrl: Secret;
  log: Log;
  clock: Clock;
  timers: Timers;
  /** For health checks of database connections, which take real time also when `timers` is virtual. */
  databaseTimers: Timers;
  sender: Sender;
  randomBytes: RandomBytes;
  /** Whether the main server also answers /operator and /metrics. */
  operatorOnMainPort: boolean;
  /** The build of the dashboard. Without one, `/` leads to the API reference. */
  dashboard?: DashboardFiles | undefined;
  /** Whether /metrics describes the process too. */
  processMetrics?: boolean | undefined;
  /** Resolves the hosts of Slack URLs; by the system's name servers by default. */
  resolve?: Resolve | undefined;
  /** Argon2 unless a test counts its calls. */
  passwordHasher?: PasswordHasher | undefined;
};

/** Creates every part once and wires it by hand. `Base` goes to most parts; everything else is named. */
export async function createApp(deps: Deps) {
  const { config, databaseUrl: url, log, clock, timers, databaseTimers, sender, randomBytes } = deps;
  const { retentionDays, auditRetentionDays, allowlistMinPrefix, supportEmail } = config;

  const metrics = createMetrics({ ofProcess: deps.processMetrics });
  const guids = createGuids({ clock, randomBytes });
  const encryption = createEncryption({ masterKeys: config.masterKeys, randomBytes });
  const connections = config.databaseConnections;
  const reserved = reservedConnections(connections);
  const database = createDatabase({ url, connections, reserved, log, timers: databaseTimers });
  const { queries } = database;
  const notifications = createNotifications({ url, queries, log, timers: databaseTimers });
  const rateLimits = createRateLimits({ queries: database.reserved, clock, log });
  const audit = createAudit({ queries: database.lists, clock, guids });
  const base: Base = { database, clock, guids, audit, metrics, log };
  const idempotencyKeys = createIdempotencyKeys({ ...base, encryption });
  const partitions = createPartitions({ database, clock, log, retentionDays, auditRetentionDays });
  const failedAuthentications = createFailedAuthentications({ database, audit, clock, log });

  // Nine functions are called later than they are passed, because the modules on both sides need each other:
  // events enqueue deliveries and deliveries publish events; an Organization goes live when its keys allow it;
  // objects refer to files and files to customers; the dispatcher runs redeliveries, which enqueue deliveries;
  // a change of a subscription's URL enqueues its first event and waits for the dispatchers; every module raises alerts,
  // whose messages need members; an alert about a denied call names the key.
  const alerts = createAlerts({ ...base, retentionDays, onRaised: () => alertsModule.notifier.wake() });
  const denialAlerts = createDenialAlerts({
    ...{ database, clock, log, alerts },
    nameOf: (...args) => applications.nameOf(...args),
  });
  const eventCounters = createEventCounters({ queries, clock, timers, guids, log });
  const events = createEvents({
    ...base,
    counters: eventCounters,
    enqueue: (...args) => deliveriesModule.enqueue(...args),
  });
  const organizations = createOrganizations({
    ...base,
    events,
    beforeGoingLive: (transaction, guid) => applications.requireAllowlists(transaction, guid),
  });
  const ingest = createIngest({ database, clock, events, organizations });

  const delayMs = config.simulatorDelayMs;
  const simulator = createSimulator({ database, clock, timers, log, notifications, events, delayMs });
  const objects = createObjects({
    ...base,
    events,
    organizations,
    simulator,
    files: { lockCompleted: (...args) => files.lockCompleted(...args) },
  });
  const feed = createFeed({
    ...{ database, clock, audit, events, organizations },
    files: { lockExisting: (...args) => files.lockExisting(...args) },
  });
  const prices = createPrices({ database, clock });

  const filesModule = await createFilesModule({
    ...{ ...base, alerts, config, timers, encryption },
    ...{ customers: objects, references: objects },
  });
  const { files, fileProcessing } = filesModule;

  const subscriptions = createSubscriptions({
    ...base,
    alerts,
    events,
    organizations,
    encryption,
    randomBytes,
    supportEmail,
    rateLimits,
    enqueueFirst: (...args) => deliveriesModule.enqueueFirst(...args),
    announceChange: (guid) => dispatcher.announceChange(guid),
  });
  const deliveriesModule = createDeliveriesModule({
    ...base,
    timers,
    notifications,
    subscriptions,
    sender,
    randomBytes,
    settings: config,
    runRedeliveryStep: () => redeliveries.step(),
  });
  const { enqueueFor, dispatcher } = deliveriesModule;
  const deliverOnce = createDeliverOnce({ clock, audit, enqueueFor });
  const deliveries = createDeliveries({
    database,
    clock,
    events,
    subscriptions,
    deliverOnce,
    retentionDays,
  });
  const eventStatus = createEventStatus({ database, clock, events, deliveries });
  const redeliveries = createRedeliveries({
    ...base,
    ...{ subscriptions, enqueueFor, eventCounters, retentionDays },
  });
  const testEvents = createTestEvents({ database, clock, events, subscriptions, rateLimits, deliverOnce });
  const liveViewers = createLiveViewers({ notifications, clock, timers, metrics, log });
  const eventStreams = createEventStreams({ database, clock, timers, metrics, log });
  const statistics = createDeliveryStatistics({ database, clock, subscriptions, eventCounters });
  const endpointHealth = createEndpointHealth({ database, clock, subscriptions, audit });

  const tokens = createTokens({ ...base, addresses: config, notifications, encryption, denialAlerts });
  const { revocations, denials, issuer } = tokens;
  const keyPairs = createKeyPairs({
    ...base,
    alerts,
    organizations,
    revocations,
    encryption,
    randomBytes,
    allowlistMinPrefix,
  });
  const { applications, clients, usage } = keyPairs;
  const tokenEndpoints = createTokenEndpoints({
    database,
    audit,
    metrics,
    clock,
    tokens,
    clients,
    usage,
    failedAuthentications,
    customers: objects,
    rateLimits,
    limits: config,
  });

  const people = createPeople(base);
  const requestRecorder = createRequestRecorder({ queries, clients, timers, log, metrics });
  const requestLog = createRequestLog({ queries: database.lists, clients, people });
  const members = createMembers({ ...base, alerts, organizations, people, revocations });
  const lookup = createLookup({
    events,
    deliveries,
    subscriptions,
    files,
    objects,
    organizations,
    clients,
    people,
    members,
    requestLog,
  });
  const login = createLoginModule({
    ...base,
    settings: config,
    timers,
    randomBytes,
    encryption,
    rateLimits,
    organizations,
    people,
    members,
    issuer,
    revocations,
    failedAuthentications,
    passwordHasher: deps.passwordHasher,
  });

  const alertsModule = createAlertsModule({
    ...base,
    alerts,
    timers,
    config,
    encryption,
    organizations,
    subscriptions,
    people,
    members,
    rateLimits,
    countWaiting: statistics.waiting,
    mail: login.mail,
    transport: createTransport({ clock, timers, resolve: deps.resolve ?? systemResolve }),
  });

  const { server, createHealthServer, createOperatorServer } = await createServers({
    ...base,
    config,
    timers,
    randomBytes,
    dashboard: deps.dashboard,
    operatorOnMainPort: deps.operatorOnMainPort,
    rateLimits,
    idempotencyKeys,
    failedAuthentications,
    encryption,
    organizations,
    applications,
    clients,
    usage,
    tokens,
    tokenEndpoints,
    subscriptions,
    events,
    ingest,
    deliveries,
    eventStatus,
    redeliveries,
    testEvents,
    liveViewers,
    eventStreams,
    statistics,
    endpointHealth,
    files,
    filesOnDisk: filesModule.direct,
    objects,
    feed,
    prices,
    people,
    members,
    login,
    alertsModule,
    requestRecorder,
    requestLog,
    lookup,
  });

  const periodicTasks = createPeriodicTasks({
    database,
    log,
    usage,
    failedAuthentications,
    rateLimits,
    tokens,
    login,
    partitions,
    subscriptions,
    redeliveries,
    eventCounters,
    idempotencyKeys,
    deliveriesModule,
    filesModule,
    alertsModule,
  });
  const phases = shutdownPhases({
    server,
    deliveriesModule,
    alertsModule,
    simulator,
    periodicTasks,
    filesModule,
    tokens,
    failedAuthentications,
    usage,
    eventCounters,
    rateLimits,
    requestRecorder,
    login,
    notifications,
    database,
  });

  return {
    ...base,
    encryption,
    partitions,
    failedAuthentications,
    organizations,
    applications,
    usage,
    revocations,
    denials,
    issuer,
    signingKeys: tokens.signingKeys,
    eventCounters,
    subscriptions,
    redeliveries,
    statistics,
    dispatcher,
    files,
    fileProcessing,
    objects,
    simulator,
    people,
    members,
    login,
    alerts,
    alertsModule,
    requestRecorder,
    server,
    createHealthServer,
    createOperatorServer,
    ...periodicTasks,
    close: () => shutDown(phases, { limitMs: config.shutdownLimitMs, timers, log }),
  };
}
