import { registerGet, registerList } from '../../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../../tokens/access/access.ts';
import type { EndpointHealth } from './health.ts';
import { HealthView, healthFilters, TimelineQuery, TimelineView } from './health-schema.ts';
import { viewHealth, viewTimeline } from './health-view.ts';

/** For callers without the scope to read subscriptions: a host is no secret, the rest of a URL may be one. */
export function registerEndpointHealth(api: HttpServer, { health }: { health: EndpointHealth }): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const tags = ['Deliveries'];

  registerList(api, '/endpoint_health', {
    access: { ...read, config: { ...read.config, readsMany: true } },
    operationId: 'listEndpointHealth',
    summary: 'List endpoints with their health, waiting deliveries and errors',
    tags,
    filters: healthFilters,
    errors: [422],
    item: HealthView,
    view: viewHealth,
    list: ({ caller }, page, filters) => health.list(caller, page, filters),
  });

  registerGet(api, '/endpoint_health/:guid', {
    access: read,
    operationId: 'getEndpointHealth',
    summary: 'Get the health, waiting deliveries and errors of the endpoint of a subscription',
    tags,
    errors: [422],
    item: HealthView,
    view: viewHealth,
    get: ({ caller, params }) => health.get(caller, params.guid),
  });

  registerGet(api, '/endpoint_health/:guid/timeline', {
    access: read,
    operationId: 'getEndpointTimeline',
    summary: 'Get when the endpoint of a subscription was healthy, failed, recovered or was changed',
    tags,
    errors: [400, 422],
    querystring: TimelineQuery,
    item: TimelineView,
    view: viewTimeline,
    get: ({ caller, params, query }) => health.timeline(caller, params.guid, query.range ?? '24h'),
  });
}
