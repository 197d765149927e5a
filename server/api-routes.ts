import type { AlertsModule } from './alerts/module.ts';
import { registerAlerts } from './alerts/routes.ts';
import { registerAlertSettings } from './alerts/settings/routes.ts';
import type { KeyPairs } from './credentials/applications/key-pairs.ts';
import { registerApplications } from './credentials/applications/routes.ts';
import type { Freezes } from './credentials/organizations/freezes.ts';
import { registerBanks, registerOrganizations } from './credentials/organizations/routes.ts';
import type { Organizations } from './credentials/organizations/service.ts';
import type { FilesModule } from './files/module.ts';
import { registerFiles } from './files/routes.ts';
import type { Base } from './infrastructure/base.ts';
import type { CompleteConfig } from './infrastructure/config/generated-secrets.ts';
import { connectionsOfOne } from './infrastructure/database/connections/connection-counts.ts';
import { createCallsInFlight } from './infrastructure/http/limits/calls-in-flight.ts';
import { createPacedRefusals } from './infrastructure/http/limits/paced-refusals.ts';
import type { SourceAddress } from './infrastructure/http/requests/source-address.ts';
import type { HttpServer } from './infrastructure/http/server.ts';
import type { IdempotencyKeys } from './infrastructure/idempotency/service.ts';
import type { RateLimits } from './infrastructure/rate-limits/service.ts';
import type { Timers } from './infrastructure/runtime/clock.ts';
import { registerLookup } from './lookup/routes.ts';
import type { Lookup } from './lookup/service.ts';
import { registerMarket } from './objects/market/routes.ts';
import type { ObjectsModule } from './objects/module.ts';
import { registerObjects } from './objects/routes.ts';
import { registerAuditEntries } from './people/audit-entries/routes.ts';
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
import { registerCustomerTokens } from './tokens/routes.ts';
import type { TokenEndpoints, Tokens } from './tokens/service.ts';
import { registerEndpointHealth } from './webhooks/deliveries/health/health-routes.ts';
import { registerLiveDeliveries } from './webhooks/deliveries/live/live-routes.ts';
import type { DeliveriesModule } from './webhooks/deliveries/module.ts';
import { registerDeliveringEndpoints } from './webhooks/deliveries/redelivery/delivering-endpoint-routes.ts';
import { registerRedeliveries } from './webhooks/deliveries/redelivery/jobs/redelivery-routes.ts';
import { registerTestEvents } from './webhooks/deliveries/redelivery/test-event-routes.ts';
import { registerDeliveries } from './webhooks/deliveries/routes.ts';
import { registerDeliveryStatistics } from './webhooks/deliveries/statistics/statistics-routes.ts';
import { registerEvents } from './webhooks/events/routes.ts';
import type { Events } from './webhooks/events/service.ts';
import type { EventStreams } from './webhooks/events/stream/event-streams.ts';
import { registerEventStream } from './webhooks/events/stream/stream-routes.ts';
import type { InboxesModule } from './webhooks/inboxes/module.ts';
import { registerInboxes } from './webhooks/inboxes/routes.ts';
import { registerSubscriptions } from './webhooks/subscriptions/routes.ts';
import type { Subscriptions } from './webhooks/subscriptions/service.ts';

/** The parts that the routes under /api use. */
export type ApiDeps = Base & {
  config: CompleteConfig;
  timers: Timers;
  rateLimits: RateLimits;
  idempotencyKeys: IdempotencyKeys;
  organizations: Organizations;
  freezes: Freezes;
  keyPairs: KeyPairs;
  tokens: Tokens;
  tokenEndpoints: TokenEndpoints;
  subscriptions: Subscriptions;
  events: Events;
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
};

/** The routes of partners and of the dashboard under /api. */
export async function registerApiRoutes(
  server: HttpServer,
  deps: ApiDeps & { sourceAddress: SourceAddress },
): Promise<void> {
  const { config, database, clock, timers, metrics, audit, rateLimits, idempotencyKeys, sourceAddress } =
    deps;
  const { organizations, freezes, subscriptions, events, people, members, login, alertsModule } = deps;
  const { applications, usage } = deps.keyPairs;
  const { verifier, denials } = deps.tokens;
  const { customerTokens } = deps.tokenEndpoints;
  const { objects, prices } = deps.objectsModule;
  const { files } = deps.filesModule;
  const { deliveries, redeliveries, testEvents, eventStatus, liveViewers, statistics, endpointHealth } =
    deps.deliveriesModule;

  const callsInFlight = createCallsInFlight({
    maxInFlight: config.callsInFlight,
    maxRunning: connectionsOfOne(config.databaseConnections),
    clock,
    timers,
  });
  freezes.onFrozen(callsInFlight.whenIdle);
  const access = {
    verifier,
    organizations,
    freezes,
    sourceAddress,
    denials,
    usage,
    callsInFlight,
    rateLimits,
    refusals: createPacedRefusals({ clock, timers }),
    callsPerMinute: config.rateLimitApi,
    metrics,
    clock,
    idempotencyKeys,
  };
  await registerApi(server, access, (api) => {
    logRequests(api, deps.requestRecorder);
    registerApplications(api, { applications, organizations, allowlistPolicy: config.allowlistPolicy });
    registerOrganizations(api, { organizations });
    registerBanks(api, { organizations });
    registerObjects(api, { objects });
    registerMarket(api, { prices });
    registerCustomerTokens(api, { customerTokens });
    registerSubscriptions(api, { subscriptions });
    registerEvents(api, { events, eventStatus });
    registerEventStream(api, { events, eventStreams: deps.eventStreams, verifier, freezes });
    registerDeliveries(api, { deliveries });
    registerDeliveringEndpoints(api, { database, subscriptions });
    registerTestEvents(api, { testEvents });
    registerDeliveryStatistics(api, { statistics });
    registerEndpointHealth(api, { health: endpointHealth });
    registerLiveDeliveries(api, { liveViewers, verifier, freezes });
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
}
