import { registerUnsubscribe } from './alerts/notices/unsubscribe-routes.ts';
import { createApiDocuments } from './api-documents.ts';
import { type ApiDeps, registerApiRoutes } from './api-routes.ts';
import type { DashboardFiles } from './dashboard/files.ts';
import { createSendPage, registerFrontDoor } from './dashboard/routes.ts';
import { registerDownloads } from './files/downloads/download-routes.ts';
import { createLinkCalls } from './files/link-calls.ts';
import { registerUploads } from './files/uploads/upload-routes.ts';
import type { FailedAuthentications } from './infrastructure/audit/failed-authentications.ts';
import { isReadOnly } from './infrastructure/database/connections/read-only.ts';
import { schemaState } from './infrastructure/database/migrate.ts';
import { createBodyBudget } from './infrastructure/http/bodies/budget/body-budget.ts';
import { registerHealth, registerMetrics } from './infrastructure/http/health.ts';
import { registerOpenApi, type ServedDocument } from './infrastructure/http/openapi/openapi.ts';
import { createRequestSourceAddress } from './infrastructure/http/requests/source-address.ts';
import { createHttpServer, type HttpServer } from './infrastructure/http/server.ts';
import type { Encryption } from './infrastructure/runtime/encryption.ts';
import type { RandomBytes } from './infrastructure/runtime/guid.ts';
import { version } from './infrastructure/runtime/version.ts';
import { createOperatorAuthentication } from './operator/authentication.ts';
import { registerOperator } from './operator/routes.ts';
import type { Transfers } from './operator/transfer/service.ts';
import { createMemberCalls } from './people/login/limits/member-calls.ts';
import { registerLogin } from './people/login/routes.ts';
import { registerTokenMetadata } from './tokens/metadata-routes.ts';
import { registerOAuth } from './tokens/routes.ts';
import type { Ingest } from './webhooks/events/ingest.ts';
import { registerInboxReceiving } from './webhooks/inboxes/receiving-routes.ts';

/** The parts that the routes use. */
type ServerDeps = ApiDeps & {
  randomBytes: RandomBytes;
  dashboard: DashboardFiles | undefined;
  operatorOnMainPort: boolean;
  withRoutes: boolean;
  failedAuthentications: FailedAuthentications;
  encryption: Encryption;
  ingest: Ingest;
  transfers: Transfers;
};

/** The HTTP servers: the main one, and on request those for health checks and for the operator. */
export async function createServers(deps: ServerDeps) {
  const { config, database, clock, timers, guids, log, metrics, audit, randomBytes, rateLimits } = deps;
  const { organizations, tokens, tokenEndpoints, login, members } = deps;
  const { applications, clients } = deps.keyPairs;
  const { feed, prices } = deps.objectsModule;
  const { direct: filesOnDisk } = deps.filesModule;
  const { subscriptions, failedAuthentications, alertsModule } = deps;
  const { baseUrl, supportEmail, allowlistPolicy, allowlistMinPrefix, operatorToken } = config;
  const { signingKeys, environments } = tokens;
  const { authentication, issuance, introspection, customerTokens } = tokenEndpoints;

  const sourceAddress = createRequestSourceAddress(config.trustedProxies);
  const bodyBudget = createBodyBudget({ maxBytes: config.maxBodyBytesInFlight });
  metrics.onRead(async () => metrics.bodyBytesInFlight.set(bodyBudget.held()));
  // Slow calls may use all others. If each node reported itself as not ready, none would issue tokens either.
  const { reserved } = database;
  const health = {
    isReadOnly: () => isReadOnly(reserved),
    schemaState: () => schemaState(reserved),
    timers,
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
  async function registerRoutes(): Promise<void> {
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
    await registerApiRoutes(server, { ...deps, sourceAddress });
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
      // Counted apart, so that downloads that are read slowly do not refuse uploads.
      await registerUploads(server, {
        ...filesOnDisk,
        linkCalls: createLinkCalls({ clock, timers }),
        timers,
      });
      registerDownloads(server, { ...filesOnDisk, linkCalls: createLinkCalls({ clock, timers }) });
    }
    if (deps.operatorOnMainPort) await registerOperations(server);
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
  if (deps.withRoutes) await registerRoutes();
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
