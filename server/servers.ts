import type { AlertsModule } from './alerts/module.ts';
import { registerUnsubscribe } from './alerts/notices/unsubscribe-routes.ts';
import { registerAlerts } from './alerts/routes.ts';
import { registerAlertSettings } from './alerts/settings/routes.ts';
import { createApiDocuments } from './api-documents.ts';
import type { KeyPairs } from './credentials/applications/key-pairs.ts';
import { registerApplications } from './credentials/applications/routes.ts';
import type { Freezes } from './credentials/organizations/freezes.ts';
import { registerBanks, registerOrganizations } from './credentials/organizations/routes.ts';
import type { Organizations } from './credentials/organizations/service.ts';
import type { DashboardFiles } from './dashboard/files.ts';
import { createSendPage, registerFrontDoor } from './dashboard/routes.ts';
import { registerDownloads } from './files/downloads/download-routes.ts';
import { createLinkCalls } from './files/link-calls.ts';
import type { FilesModule } from './files/module.ts';
import { registerFiles } from './files/routes.ts';
import { registerUploads } from './files/uploads/upload-routes.ts';
import type { FailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import type { Base } from './infrastructure/base.ts';
import type { CompleteConfig } from './infrastructure/config/generated-secrets.ts';
import { connectionsOfOne } from './infrastructure/database/connections/bounded-pool.ts';
import { isReadOnly } from './infrastructure/database/connections/read-only.ts';
import { schemaState } from './infrastructure/database/migrate.ts';
import { createBodyBudget } from './infrastructure/http/bodies/budget/body-budget.ts';
import { registerHealth, registerMetrics } from './infrastructure/http/health.ts';
import { createCallsInFlight } from './infrastructure/http/limits/calls-in-flight.ts';
import { createPacedRefusals } from './infrastructure/http/limits/paced-refusals.ts';
import { registerOpenApi, type ServedDocument } from './infrastructure/http/openapi/openapi.ts';
import { createRequestSourceAddress } from './infrastructure/http/requests/source-address.ts';
import { createHttpServer, type HttpServer } from './infrastructure/http/server.ts';
import type { IdempotencyKeys } from './infrastructure/idempotency/service.ts';
import type { RateLimits } from './infrastructure/rate-limits/service.ts';
import type { Timers } from './infrastructure/runtime/clock.ts';
import type { Encryption } from './infrastructure/runtime/encryption.ts';
import type { RandomBytes } from './infrastructure/runtime/guid.ts';
import { version } from './infrastructure/runtime/version.ts';
import { registerLookup } from './lookup/routes.ts';
import type { Lookup } from './lookup/service.ts';
import { registerMarket } from './objects/market/routes.ts';
import type { ObjectsModule } from './objects/module.ts';
import { registerObjects } from './objects/routes.ts';
import { createOperatorAuthentication } from './operator/authentication.ts';
import { registerOperator } from './operator/routes.ts';
import type { Transfers } from './operator/transfer/service.ts';
import { registerAuditEntries } from './people/audit-entries/routes.ts';
import { createMemberCalls } from './people/login/limits/member-calls.ts';
import { registerLogin } from './people/login/routes.ts';
import type { LoginModule } from './people/login/service.ts';
import type { People } from './people/members/people.ts';
import { registerMemberPolicy } from './people/members/policy-routes.ts';
import { registerMembers } from './people/members/routes.ts';
import type { Members } from './people/members/service.ts';
import { logRequests } from './request-log/hook.ts';
import type { RequestRecorder } from './request-log/recorder.ts';
import { registerRequestLog } from './request-log/routes.ts';
import type { RequestLog } from './request-log/service.ts';
import { registerApi } from './tokens/access/guard.ts';
import { registerTokenMetadata } from './tokens/metadata-routes.ts';
import { registerCustomerTokens, registerOAuth } from './tokens/routes.ts';
import type { TokenEndpoints, Tokens } from './tokens/service.ts';
import { registerEndpointHealth } from './webhooks/deliveries/health/health-routes.ts';
import { registerLiveDeliveries } from './webhooks/deliveries/live/live-routes.ts';
import type { DeliveriesModule } from './webhooks/deliveries/module.ts';
import { registerDeliveringEndpoints } from './webhooks/deliveries/redelivery/delivering-endpoint-routes.ts';
import { registerRedeliveries } from './webhooks/deliveries/redelivery/jobs/redelivery-routes.ts';
import { registerTestEvents } from './webhooks/deliveries/redelivery/test-event-routes.ts';
import { registerDeliveries } from './webhooks/deliveries/routes.ts';
import { registerDeliveryStatistics } from './webhooks/deliveries/statistics/statistics-routes.ts';
import type { Ingest } from './webhooks/events/ingest.ts';
import { registerEvents } from './webhooks/events/routes.ts';
import type { Events } from './webhooks/events/service.ts';
import type { EventStreams } from './webhooks/events/stream/event-streams.ts';
import { registerEventStream } from './webhooks/events/stream/stream-routes.ts';
import type { InboxesModule } from './webhooks/inboxes/module.ts';
import { registerInboxReceiving } from './webhooks/inboxes/receiving-routes.ts';
import { registerInboxes } from './webhooks/inboxes/routes.ts';
import { registerSubscriptions } from './webhooks/subscriptions/routes.ts';
import type { Subscriptions } from './webhooks/subscriptions/service.ts';

/** The parts that the routes use. */
export type ServerDeps = Base & {
  config: CompleteConfig;
  timers: Timers;
  randomBytes: RandomBytes;
  dashboard: DashboardFiles | undefined;
  operatorOnMainPort: boolean;
  rateLimits: RateLimits;
  idempotencyKeys: IdempotencyKeys;
  failedAuthentications: FailedAuthentications;
  encryption: Encryption;
  organizations: Organizations;
  freezes: Freezes;
  keyPairs: KeyPairs;
  tokens: Tokens;
  tokenEndpoints: TokenEndpoints;
  subscriptions: Subscriptions;
  events: Events;
  ingest: Ingest;
  eventStreams: EventStreams;
  deliveriesModule: DeliveriesModule;
  inboxesModule: InboxesModule;
  filesModule: FilesModule;
  objectsModule: ObjectsModule;
  people: People;
  members: Members;
  login: LoginModule;
  alertsModule: AlertsModule;
  requestRecorder: RequestRecorder;
  requestLog: RequestLog;
  lookup: Lookup;
  transfers: Transfers;
};

/** The HTTP servers: the main one, and on request those for health checks and for the operator. */
export async function createServers(deps: ServerDeps) {
  const { config, database, clock, timers, guids, log, metrics, audit, randomBytes, rateLimits } = deps;
  const { organizations, tokens, tokenEndpoints, login, members, people } = deps;
  const { applications, clients, usage } = deps.keyPairs;
  const { subscriptions, events } = deps;
  const { objects, feed, prices } = deps.objectsModule;
  const { files, direct: filesOnDisk } = deps.filesModule;
  const { deliveries, redeliveries, testEvents, eventStatus, liveViewers, statistics, endpointHealth } =
    deps.deliveriesModule;
  const { failedAuthentications, alertsModule } = deps;
  const { baseUrl, supportEmail, allowlistPolicy, allowlistMinPrefix, operatorToken } = config;
  const { verifier, denials, signingKeys, environments } = tokens;
  const { authentication, issuance, introspection, customerTokens } = tokenEndpoints;

  const sourceAddress = createRequestSourceAddress(config.trustedProxies);
  const bodyBudget = createBodyBudget({ maxBytes: config.maxBodyBytesInFlight });
  metrics.onRead(async () => metrics.bodyBytesInFlight.set(bodyBudget.held()));
  const health = {
    isReadOnly: () => isReadOnly(database.queries),
    schemaState: () => schemaState(database.queries),
  };
  const document = { baseUrl, version, supportEmail };
  const parts = { baseUrl, guids, log, metrics, bodyBudget, sourceAddress };
  const newServer = () => createHttpServer(parts);
  const dashboard = deps.dashboard && {
    files: deps.dashboard,
    sendPage: createSendPage({ files: deps.dashboard, randomBytes, uploadUrls: config }),
  };

  const server = createHttpServer({
    ...parts,
    sendUnknownPage: dashboard && ((reply) => dashboard.sendPage(reply.code(404))),
  });
  const apiDocuments = createApiDocuments({ ...config, hasDashboard: deps.dashboard !== undefined });
  const documents = [
    apiDocuments.forPartners,
    ...(deps.operatorOnMainPort ? [apiDocuments.forOperators()] : []),
  ];
  await registerOpenApi(server, { ...document, documents });
  registerHealth(server, health);
  registerFrontDoor(server, dashboard);
  await registerOAuth(server, {
    authentication,
    issuance,
    introspection,
    customerTokens,
    environments,
    sourceAddress,
    requestRecorder: deps.requestRecorder,
  });
  registerTokenMetadata(server, { signingKeys, environments });
  const callsInFlight = createCallsInFlight({
    maxInFlight: config.callsInFlight,
    maxRunning: connectionsOfOne(config.databaseConnections),
    clock,
    timers,
  });
  deps.freezes.onFrozen(callsInFlight.whenIdle);
  const access = {
    verifier,
    organizations,
    freezes: deps.freezes,
    sourceAddress,
    denials,
    usage,
    callsInFlight,
    rateLimits,
    refusals: createPacedRefusals({ clock, timers }),
    callsPerMinute: config.rateLimitApi,
    metrics,
    clock,
    idempotencyKeys: deps.idempotencyKeys,
  };
  await registerApi(server, access, (api) => {
    logRequests(api, deps.requestRecorder);
    registerApplications(api, { applications, organizations, allowlistPolicy });
    registerOrganizations(api, { organizations });
    registerBanks(api, { organizations });
    registerObjects(api, { objects });
    registerMarket(api, { prices });
    registerCustomerTokens(api, { customerTokens });
    registerSubscriptions(api, { subscriptions });
    registerEvents(api, { events, eventStatus });
    registerEventStream(api, { events, eventStreams: deps.eventStreams, verifier, freezes: deps.freezes });
    registerDeliveries(api, { deliveries });
    registerDeliveringEndpoints(api, { database, subscriptions });
    registerTestEvents(api, { testEvents });
    registerDeliveryStatistics(api, { statistics });
    registerEndpointHealth(api, { health: endpointHealth });
    registerLiveDeliveries(api, { liveViewers, verifier, freezes: deps.freezes });
    registerRedeliveries(api, { redeliveries });
    registerInboxes(api, deps.inboxesModule);
    registerFiles(api, { files });
    registerMembers(api, { members, invitations: login.invitations });
    registerMemberPolicy(api, { members, organizations });
    registerAuditEntries(api, { audit, people, members, organizations, applications, subscriptions });
    registerAlerts(api, { ...alertsModule, hasMail: login.mail !== undefined });
    registerAlertSettings(api, alertsModule);
    registerRequestLog(api, { requestLog: deps.requestLog });
    registerLookup(api, { lookup: deps.lookup });
  });
  await registerLogin(server, {
    login,
    baseUrl,
    supportEmail,
    allowlistPolicy,
    allowlistMinPrefix,
    tokenUrls: {
      sandbox: `${config.sandboxAuthUrl}/oauth/token`,
      production: `${config.productionAuthUrl}/oauth/token`,
    },
    sourceAddress,
    callsInFlight: createMemberCalls({ connections: config.databaseConnections, clock, timers }),
  });
  await registerInboxReceiving(server, {
    inboxReceiving: deps.inboxesModule.inboxReceiving,
    sourceAddress,
    clock,
    timers,
  });
  await registerUnsubscribe(server, {
    ...{ ...alertsModule, organizations, rateLimits, randomBytes, sourceAddress },
  });
  if (filesOnDisk) {
    const linkCalls = createLinkCalls({ clock, timers });
    await registerUploads(server, { ...filesOnDisk, linkCalls });
    registerDownloads(server, { ...filesOnDisk, linkCalls });
  }
  const operatorAuthentication = createOperatorAuthentication({
    operatorToken,
    rateLimits,
    metrics,
    failedAuthentications,
    sourceAddress,
  });
  async function registerOperations(target: HttpServer): Promise<void> {
    registerMetrics(target, metrics);
    await registerOperator(target, {
      authentication: operatorAuthentication,
      idempotencyKeys: deps.idempotencyKeys,
      organizations,
      applications,
      clients,
      subscriptions,
      ingest: deps.ingest,
      feed,
      prices,
      members,
      login,
      signingKeys,
      encryption: deps.encryption,
      alertSettings: alertsModule.settings,
      database,
      audit,
      ...{ transfers: deps.transfers, timers },
    });
  }
  if (deps.operatorOnMainPort) await registerOperations(server);
  await server.ready();

  return {
    server,

    /** For processes without routes of their own. */
    createHealthServer(): HttpServer {
      const healthServer = newServer();
      registerHealth(healthServer, health);
      registerMetrics(healthServer, metrics);
      return healthServer;
    },

    /** The operator's routes on a listener of their own, with their OpenAPI document. */
    async createOperatorServer(): Promise<HttpServer> {
      const operatorServer = newServer();
      const own: ServedDocument = {
        ...apiDocuments.forOperators(baseUrl),
        elsewhere: { server, baseUrl, includes: (path) => path.startsWith('/dashboard/') },
      };
      // Also at the root, where clients of earlier versions look for it.
      const documents: ServedDocument[] = [own, { ...own, address: '' }];
      await registerOpenApi(operatorServer, { ...document, baseUrl: '/', documents });
      registerHealth(operatorServer, health);
      await registerOperations(operatorServer);
      await operatorServer.ready();
      return operatorServer;
    },
  };
}
