import { createDenialAlerts } from './alerts/denials.ts';
import { createAlertsModule } from './alerts/module.ts';
import { createAlerts } from './alerts/service.ts';
import { createKeyPairs } from './credentials/applications/key-pairs.ts';
import { createFreezes } from './credentials/organizations/freezes.ts';
import { createOrganizations } from './credentials/organizations/service.ts';
import type { DashboardFiles } from './dashboard/files.ts';
import { createFilesModule } from './files/module.ts';
import type { Storage } from './files/storage/storage.ts';
import type { CompleteConfig } from './infrastructure/config/generated-secrets.ts';
import type { DatabaseStream } from './infrastructure/database/database.ts';
import { createInfrastructure } from './infrastructure/module.ts';
import { type Resolve, systemResolve } from './infrastructure/network/resolve.ts';
import type { Clock, Timers } from './infrastructure/runtime/clock.ts';
import type { RandomBytes } from './infrastructure/runtime/guid.ts';
import type { Log } from './infrastructure/runtime/log.ts';
import type { Secret } from './infrastructure/runtime/secret.ts';
import { shutDown } from './infrastructure/runtime/shutdown.ts';
import { createLookup } from './lookup/service.ts';
import { createObjectsModule } from './objects/module.ts';
import { createTransfers } from './operator/transfer/service.ts';
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
import { createDeliveriesModule } from './webhooks/deliveries/module.ts';
import type { Sender } from './webhooks/deliveries/sending/sender.ts';
import { createTransport } from './webhooks/deliveries/sending/transport.ts';
import { createEventCounters } from './webhooks/events/counters.ts';
import { createIngest } from './webhooks/events/ingest.ts';
import { createEvents } from './webhooks/events/service.ts';
import { createEventStreams } from './webhooks/events/stream/event-streams.ts';
import { createInboxesModule } from './webhooks/inboxes/module.ts';
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
  /** Carries the database connections; TCP by default. */
  databaseStream?: DatabaseStream | undefined;
  /** Wraps the storage of files, to make it fail. */
  wrapStorage?: ((storage: Storage) => Storage) | undefined;
  sender: Sender;
  randomBytes: RandomBytes;
  /** Whether the main server also answers /operator and /metrics. */
  operatorOnMainPort: boolean;
  /** False for a process whose main server does not listen: its routes are a sixth of the start. */
  withRoutes?: boolean | undefined;
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
  const { config, databaseUrl, log, clock, timers, databaseTimers, sender, randomBytes } = deps;
  const { retentionDays, allowlistMinPrefix, supportEmail } = config;

  const infrastructure = createInfrastructure({
    ...{ config, databaseUrl, log, clock, databaseTimers, randomBytes },
    databaseStream: deps.databaseStream,
    processMetrics: deps.processMetrics,
  });
  const { base, encryption, notifications, rateLimits, idempotencyKeys } = infrastructure;
  const { partitions, failedAuthentications } = infrastructure;
  const { database, guids, metrics } = base;
  const { queries } = database;

  // Some functions are called later than they are passed, because the modules on both sides need each other: events
  // enqueue deliveries and deliveries publish events; an Organization goes live when its keys allow it; objects refer to
  // files and files to customers; a change of a subscription enqueues its first event and waits for the
  // dispatchers; every module raises alerts, whose messages need members; an alert about a denied call names the key.
  const alerts = createAlerts({ ...base, retentionDays, onRaised: () => alertsModule.notifier.wake() });
  const denialAlerts = createDenialAlerts({
    ...{ database, clock, log, alerts },
    namesOf: (...args) => applications.namesOf(...args),
  });
  const tokens = createTokens({ ...base, addresses: config, notifications, encryption, denialAlerts });
  const { revocations, denials, issuer } = tokens;
  const freezes = createFreezes({ database, log, changes: revocations });
  const eventCounters = createEventCounters({ queries, clock, timers, guids, log });
  const events = createEvents({
    ...base,
    counters: eventCounters,
    freezes,
    enqueue: (...args) => deliveriesModule.enqueue(...args),
  });
  const organizations = createOrganizations({
    ...base,
    events,
    freezes,
    beforeGoingLive: (transaction, guid) => applications.requireAllowlists(transaction, guid),
  });

  const objectsModule = createObjectsModule({
    ...base,
    timers,
    notifications,
    events,
    organizations,
    files: {
      lockCompleted: (...args) => files.lockCompleted(...args),
      lockExisting: (...args) => files.lockExisting(...args),
    },
    delayMs: config.simulatorDelayMs,
  });
  const { objects, simulator } = objectsModule;

  const filesModule = await createFilesModule({
    ...{ ...base, alerts, config, timers, encryption, freezes },
    ...{ customers: objects, references: objects, wrapStorage: deps.wrapStorage },
  });
  const { files, fileProcessing } = filesModule;

  const subscriptions = createSubscriptions({
    ...base,
    alerts,
    events,
    organizations,
    revocations,
    encryption,
    randomBytes,
    supportEmail,
    rateLimits,
    firstQueue: {
      enqueue: (...args) => deliveriesModule.enqueue(...args),
      enqueueFirst: (...args) => deliveriesModule.enqueueFirst(...args),
      withoutFirst: (...args) => deliveriesModule.withoutFirst(...args),
    },
    endHolds: (...args) => deliveriesModule.endHolds(...args),
    announceChange: (guid) => dispatcher.announceChange(guid),
    leaseTerm: () => dispatcher.leaseTerm(),
  });
  const ingest = createIngest({ database, clock, events, organizations, freezes, subscriptions });

  const deliveriesModule = createDeliveriesModule({
    ...base,
    timers,
    notifications,
    rateLimits,
    events,
    eventCounters,
    subscriptions,
    sender,
    randomBytes,
    settings: config,
  });
  const { dispatcher, deliveries, redeliveries, statistics } = deliveriesModule;
  const inboxesModule = createInboxesModule({
    ...{ ...base, organizations, subscriptions, rateLimits, randomBytes },
    baseUrl: config.baseUrl,
  });
  const eventStreams = createEventStreams({ database, clock, timers, metrics, log });

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
    ...base,
    tokens,
    clients,
    freezes,
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
    freezes,
    subscriptions,
    revocations,
    people,
    members,
    rateLimits,
    endpointHealth: deliveriesModule.endpointHealth,
    countWaiting: statistics.waiting,
    mail: login.mail,
    transport: createTransport({ clock, timers, resolve: deps.resolve ?? systemResolve }),
  });

  const transfers = createTransfers({
    ...{ ...base, encryption, partitions, revocations, dispatcher, timers, baseUrl: config.baseUrl },
    ...{ storage: filesModule.storage, deletions: filesModule.deletions },
  });
  freezes.onFrozen(async () => {
    await events.whenIdle();
    await Promise.all([eventCounters.flush(), deliveriesModule.flushCounts()]);
    await Promise.all([usage.flush(), requestRecorder.flush()]);
    await Promise.all([denials.flush({ all: true }), failedAuthentications.flush({ all: true })]);
  });

  const { server, createHealthServer, createOperatorServer } = await createServers({
    ...base,
    config,
    timers,
    randomBytes,
    dashboard: deps.dashboard,
    operatorOnMainPort: deps.operatorOnMainPort,
    withRoutes: deps.withRoutes ?? true,
    rateLimits,
    idempotencyKeys,
    failedAuthentications,
    encryption,
    organizations,
    freezes,
    keyPairs,
    tokens,
    tokenEndpoints,
    subscriptions,
    events,
    ingest,
    eventStreams,
    deliveriesModule,
    inboxesModule,
    filesModule,
    objectsModule,
    people,
    members,
    login,
    alertsModule,
    requestRecorder,
    requestLog,
    lookup,
    transfers,
  });

  /** Parts with periodic tasks and pending writes at a shutdown. */
  const shared = {
    ...{ database, usage, failedAuthentications, rateLimits, tokens, login, eventCounters },
    ...{ deliveriesModule, filesModule, alertsModule },
  };
  const periodicTasks = createPeriodicTasks({
    ...shared,
    log,
    partitions,
    subscriptions,
    inboxesModule,
    idempotencyKeys,
    transfers,
  });
  const phases = shutdownPhases({
    ...shared,
    server,
    simulator,
    periodicTasks,
    requestRecorder,
    notifications,
  });

  return {
    ...base,
    encryption,
    partitions,
    failedAuthentications,
    organizations,
    freezes,
    applications,
    usage,
    revocations,
    denials,
    issuer,
    signingKeys: tokens.signingKeys,
    eventCounters,
    subscriptions,
    inboxes: inboxesModule.inboxes,
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
    transfers,
    server,
    createHealthServer,
    createOperatorServer,
    ...periodicTasks,
    close: () => shutDown(phases, { limitMs: config.shutdownLimitMs, timers, log }),
  };
}
