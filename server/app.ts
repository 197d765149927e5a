import { createKeyPairs } from './credentials/applications/key-pairs.ts';
import { registerApplications } from './credentials/applications/routes.ts';
import { registerBanks } from './credentials/organizations/routes.ts';
import { createOrganizations } from './credentials/organizations/service.ts';
import type { DashboardFiles } from './dashboard/files.ts';
import { registerFrontDoor } from './dashboard/routes.ts';
import { registerDownloads } from './files/downloads/download-routes.ts';
import { createFilesModule } from './files/module.ts';
import { registerFiles } from './files/routes.ts';
import { registerUploads } from './files/uploads/upload-routes.ts';
import { createFailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import { createAudit } from './infrastructure/audit/service.ts';
import { createClusterTasks, createNodeTasks } from './infrastructure/background/periodic-tasks.ts';
import type { CompleteConfig } from './infrastructure/config/generated-secrets.ts';
import { connectionsOfOne, reservedConnections } from './infrastructure/database/connections/bounded-pool.ts';
import { createNotifications } from './infrastructure/database/connections/notifications.ts';
import { createDatabase } from './infrastructure/database/database.ts';
import { schemaState } from './infrastructure/database/migrate.ts';
import { createPartitions } from './infrastructure/database/partitions/partitions.ts';
import { createBodyBudget } from './infrastructure/http/bodies/body-budget.ts';
import { registerHealth, registerMetrics } from './infrastructure/http/health.ts';
import { createCallsInFlight } from './infrastructure/http/limits/calls-in-flight.ts';
import { createPacedRefusals } from './infrastructure/http/limits/paced-refusals.ts';
import {
  OPERATOR_INTRODUCTION,
  PARTNER_INTRODUCTION,
  registerOpenApi,
} from './infrastructure/http/openapi/openapi.ts';
import { createRequestSourceAddress } from './infrastructure/http/requests/source-address.ts';
import { createHttpServer, type HttpServer } from './infrastructure/http/server.ts';
import { createRateLimits } from './infrastructure/rate-limits/service.ts';
import type { Clock, Timers } from './infrastructure/runtime/clock.ts';
import { createEncryption } from './infrastructure/runtime/encryption.ts';
import { createGuids, type RandomBytes } from './infrastructure/runtime/guid.ts';
import type { Log } from './infrastructure/runtime/log.ts';
import { createMetrics } from './infrastructure/runtime/metrics.ts';
import type { Secret } from './infrastructure/runtime/secret.ts';
import { shutDown } from './infrastructure/runtime/shutdown.ts';
import { version } from './infrastructure/runtime/version.ts';
import { createFeed } from './objects/feed.ts';
import { registerObjects } from './objects/routes.ts';
import { createObjects } from './objects/service.ts';
import { createSimulator } from './objects/simulator.ts';
import { createOperatorAuthentication } from './operator/authentication.ts';
import { registerOperator } from './operator/routes.ts';
import { registerAuditEntries } from './people/audit-entries/routes.ts';
import type { PasswordHasher } from './people/login/passwords/passwords.ts';
import { registerLogin } from './people/login/routes.ts';
import { createLoginModule } from './people/login/service.ts';
import { createPeople } from './people/members/people.ts';
import { registerMemberPolicy } from './people/members/policy-routes.ts';
import { registerMembers } from './people/members/routes.ts';
import { createMembers } from './people/members/service.ts';
import { registerApi } from './tokens/access/guard.ts';
import { registerTokenMetadata } from './tokens/metadata-routes.ts';
import { registerCustomerTokens, registerOAuth } from './tokens/routes.ts';
import { createTokenEndpoints, createTokens } from './tokens/service.ts';
import { WEBHOOKS } from './webhooks/deliveries/description.ts';
import { registerLiveDeliveries } from './webhooks/deliveries/live/live-routes.ts';
import { createLiveViewers } from './webhooks/deliveries/live/live-viewers.ts';
import { createDeliveriesModule } from './webhooks/deliveries/module.ts';
import { createDeliverOnce } from './webhooks/deliveries/redelivery/deliver-once.ts';
import { createRedeliveries } from './webhooks/deliveries/redelivery/redeliveries.ts';
import { registerRedeliveries } from './webhooks/deliveries/redelivery/redelivery-routes.ts';
import { registerTargets } from './webhooks/deliveries/redelivery/target-routes.ts';
import { registerTestEvents } from './webhooks/deliveries/redelivery/test-event-routes.ts';
import { createTestEvents } from './webhooks/deliveries/redelivery/test-events.ts';
import { registerDeliveries } from './webhooks/deliveries/routes.ts';
import type { Sender } from './webhooks/deliveries/sending/sender.ts';
import { createDeliveries } from './webhooks/deliveries/service.ts';
import { createDeliveryStatistics } from './webhooks/deliveries/statistics/statistics.ts';
import { registerDeliveryStatistics } from './webhooks/deliveries/statistics/statistics-routes.ts';
import { createEventCounters } from './webhooks/events/counters.ts';
import { createIngest } from './webhooks/events/ingest.ts';
import { registerEvents } from './webhooks/events/routes.ts';
import { createEvents } from './webhooks/events/service.ts';
import { registerSubscriptions } from './webhooks/subscriptions/routes.ts';
import { createSubscriptions } from './webhooks/subscriptions/service.ts';

export type App = Awaited<ReturnType<typeof createApp>>;

type Deps = {
  config: CompleteConfig;
  databaseUrl: Secret;
  log: Log;
  clock: Clock;
  timers: Timers;
  /** For the health check of database connections: their answers take real time whatever `timers` does. */
  databaseTimers: Timers;
  /** Takes deliveries to their endpoints. */
  sender: Sender;
  randomBytes: RandomBytes;
  /** Whether the main server answers /operator and /metrics too, beside the operator's own. */
  operatorOnMainPort: boolean;
  /** The dashboard's build; without one the front door leads to the reference. */
  dashboard?: DashboardFiles | undefined;
  /** Argon2 unless a test counts its calls. */
  passwordHasher?: PasswordHasher | undefined;
};

/** The whole house: every part made once and wired by hand. */
export async function createApp(deps: Deps) {
  const { config, databaseUrl: url, log, clock, timers, databaseTimers, sender, randomBytes } = deps;
  const { baseUrl, supportEmail, allowlistPolicy, allowlistMinPrefix } = config;

  const metrics = createMetrics();
  const guids = createGuids({ clock, randomBytes });
  const encryption = createEncryption({ masterKeys: config.masterKeys, randomBytes });
  const connections = config.databaseConnections;
  const database = createDatabase({
    ...{ url, connections, reserved: reservedConnections(connections), log },
    timers: databaseTimers,
  });
  const { queries } = database;
  const notifications = createNotifications({ url, queries, log, timers: databaseTimers });
  const rateLimits = createRateLimits({ queries: database.reserved, clock, log });
  const audit = createAudit({ queries: database.lists, clock, guids });
  const base = { database, clock, guids, audit, metrics, log };
  const partitions = createPartitions({ ...base, ...config });
  const eventCounters = createEventCounters({ queries, clock, timers, guids, log });
  const events = createEvents({
    ...base,
    counters: eventCounters,
    enqueue: (...args) => deliveries.enqueue(...args),
  });

  const organizations = createOrganizations({
    ...base,
    events,
    beforeGoingLive: (transaction, guid) => applications.requireAllowlists(transaction, guid),
  });
  const ingest = createIngest({ ...base, events, organizations });
  const simulator = createSimulator({
    ...base,
    ...{ timers, notifications, events, delayMs: config.simulatorDelayMs },
  });
  const objects = createObjects({
    ...base,
    ...{ events, organizations, simulator },
    files: { areCompleted: (...args) => files.areCompleted(...args) },
  });
  const feed = createFeed({ ...base, events, organizations });
  const subscriptions = createSubscriptions({
    ...base,
    ...{ events, organizations, encryption, randomBytes, supportEmail },
  });
  const filesModule = createFilesModule({ ...base, config, timers, encryption, customers: objects });
  const { files, fileProcessing } = filesModule;
  const deliveries = createDeliveriesModule({
    ...base,
    ...{ timers, notifications, subscriptions, sender, randomBytes, settings: config },
    runRedeliveryStep: () => redeliveries.step(),
  });
  const { dispatcher, enqueueFor } = deliveries;
  const resending = { subscriptions, enqueueFor, retentionDays: config.retentionDays };
  const deliverOnce = createDeliverOnce({ ...base, enqueueFor });
  const deliveryRecords = createDeliveries({ ...base, ...resending, events, deliverOnce });
  const testEvents = createTestEvents({ ...base, events, subscriptions, rateLimits, deliverOnce });
  const statistics = createDeliveryStatistics({
    queries: database.lists,
    clock,
    subscriptions,
    eventCounters,
  });
  const liveViewers = createLiveViewers({ ...base, notifications, timers });
  const redeliveries = createRedeliveries({ ...base, ...resending });
  const tokens = createTokens({ ...base, addresses: config, notifications, encryption });
  const { revocations, denials } = tokens;
  const failedAuthentications = createFailedAuthentications(base);
  const people = createPeople(base);
  const members = createMembers({ ...base, organizations, people, revocations });
  const login = createLoginModule({
    ...base,
    ...tokens,
    ...{ settings: config, timers, randomBytes, encryption, rateLimits, organizations, people, members },
    failedAuthentications,
    passwordHasher: deps.passwordHasher,
  });
  const keyPairs = createKeyPairs({
    ...base,
    ...{ organizations, revocations, encryption, randomBytes, allowlistMinPrefix },
  });
  const { applications, usage } = keyPairs;
  const endpoints = createTokenEndpoints({
    ...base,
    ...keyPairs,
    tokens,
    customers: objects,
    rateLimits,
    failedAuthentications,
    limits: config,
  });

  const sourceAddress = createRequestSourceAddress(config.trustedProxies);
  const bodyBudget = createBodyBudget({ maxBytes: config.maxBodyBytesInFlight });
  const listener = { ...base, baseUrl, bodyBudget, sourceAddress };
  const server = createHttpServer(listener);
  const document = { baseUrl, version, supportEmail };
  await registerOpenApi(server, { ...document, description: PARTNER_INTRODUCTION, webhooks: WEBHOOKS });
  const health = { schemaState: () => schemaState(queries) };
  registerHealth(server, health);
  registerFrontDoor(server, { files: deps.dashboard, randomBytes, uploadUrls: config });
  await registerOAuth(server, { ...endpoints, ...tokens, sourceAddress });
  registerTokenMetadata(server, tokens);
  const callsInFlight = createCallsInFlight({
    maxInFlight: config.callsInFlight,
    maxRunning: connectionsOfOne(connections),
    ...{ clock, timers },
  });
  const access = {
    ...{ ...base, ...tokens, organizations, usage, sourceAddress },
    ...{ callsInFlight, rateLimits, callsPerMinute: config.rateLimitApi },
    refusals: createPacedRefusals({ clock, timers }),
  };
  await registerApi(server, access, (api) => {
    registerApplications(api, { applications, organizations, allowlistPolicy });
    registerBanks(api, { organizations });
    registerObjects(api, { objects });
    registerCustomerTokens(api, endpoints);
    registerSubscriptions(api, { subscriptions });
    registerEvents(api, { events });
    registerDeliveries(api, { deliveries: deliveryRecords });
    registerTargets(api, { database, subscriptions });
    registerTestEvents(api, { testEvents });
    registerDeliveryStatistics(api, { statistics });
    registerLiveDeliveries(api, { ...tokens, liveViewers });
    registerRedeliveries(api, { redeliveries });
    registerFiles(api, { files });
    registerMembers(api, { members, invitations: login.invitations });
    registerMemberPolicy(api, { members, organizations });
    registerAuditEntries(api, { audit, people });
  });
  const allowlists = { allowlistPolicy, allowlistMinPrefix };
  await registerLogin(server, { login, baseUrl, supportEmail, ...allowlists, sourceAddress });
  if (filesModule.direct) {
    await registerUploads(server, filesModule.direct);
    registerDownloads(server, filesModule.direct);
  }
  const { operatorToken } = config;
  const authentication = createOperatorAuthentication({
    ...{ operatorToken, rateLimits, metrics, failedAuthentications, sourceAddress },
  });
  const services = {
    ...base,
    ...keyPairs,
    ...tokens,
    organizations,
    objects,
    feed,
    subscriptions,
    ingest,
    encryption,
    people,
    members,
    login,
  };
  async function registerOperations(target: HttpServer): Promise<void> {
    registerMetrics(target, metrics);
    await registerOperator(target, { ...services, authentication });
  }
  if (deps.operatorOnMainPort) await registerOperations(server);
  await server.ready();

  const nodeTasks = createNodeTasks({
    log,
    tasks: [
      { name: 'key usage', run: usage.flush },
      { name: 'denials', run: denials.flush },
      { name: 'failed authentications', run: failedAuthentications.flush },
      { name: 'rate limits', run: rateLimits.sweep },
      { name: 'revocations', run: revocations.sweep },
      { name: 'signing keys', run: tokens.signingKeys.sweep },
      { name: 'logins', run: login.sweep },
      // By every node: one that only serves the API must not run out of partitions when nobody sweeps.
      { name: 'partitions', run: partitions.prepare },
    ],
  });

  const clusterTasks = createClusterTasks({
    ...{ database, log },
    tasks: [
      { name: 'deleted subscriptions', run: subscriptions.sweepDeleted },
      { name: 'failed subscriptions', run: subscriptions.sweepFailed },
      { name: 'recoveries', run: redeliveries.sweep },
      { name: 'writers of event counts', run: eventCounters.sweep },
      { name: 'orphaned deliveries', run: deliveries.sweepOrphans },
      { name: 'retention', run: partitions.dropOld },
      { name: 'file deletions', run: filesModule.sweepDeletions },
      { name: 'unfinished uploads', run: filesModule.sweepUnfinishedUploads },
      { name: 'orphaned content', run: filesModule.sweepOrphans },
    ],
  });

  /** In order: first what comes in, then what is still to be written down, last the database. */
  function close(): Promise<void> {
    return shutDown(
      [
        {
          share: 0.65,
          steps: [
            ['requests', () => server.close()],
            ['sending', deliveries.stopSending],
            ['simulator', simulator.stop],
            ['cluster tasks', clusterTasks.stop],
            ['node tasks', nodeTasks.stop],
          ],
        },
        {
          share: 0.1,
          steps: [
            // After the requests: what they committed meanwhile is given back with the rest.
            ['deliveries', deliveries.stop],
            ['sender thread', deliveries.closeSender],
            ['files', filesModule.stop],
          ],
        },
        {
          share: 0.1,
          steps: [
            ['denials', () => denials.flush({ all: true })],
            ['failed authentications', () => failedAuthentications.flush({ all: true })],
            ['key usage', usage.flush],
            ['event counters', eventCounters.stop],
            ['rate limits', rateLimits.flush],
            ['login', login.close],
            ['revocations', revocations.stop],
          ],
        },
        {
          share: 0.15,
          steps: [
            ['notifications', notifications.close],
            ['database', database.close],
          ],
        },
      ],
      { limitMs: config.shutdownLimitMs, timers, log },
    );
  }

  /** For processes that serve nothing else. */
  function createHealthServer(): HttpServer {
    const healthServer = createHttpServer(listener);
    registerHealth(healthServer, health);
    registerMetrics(healthServer, metrics);
    return healthServer;
  }

  /** What the people who run the service need, and nothing for partners; its document lists the operator's calls. */
  async function createOperatorServer(): Promise<HttpServer> {
    const operatorServer = createHttpServer(listener);
    await registerOpenApi(operatorServer, { ...document, baseUrl: '/', description: OPERATOR_INTRODUCTION });
    registerHealth(operatorServer, health);
    await registerOperations(operatorServer);
    await operatorServer.ready();
    return operatorServer;
  }

  return {
    ...services,
    failedAuthentications,
    redeliveries,
    eventCounters,
    partitions,
    dispatcher,
    fileProcessing,
    simulator,
    server,
    createHealthServer,
    createOperatorServer,
    nodeTasks,
    clusterTasks,
    close,
  };
}
