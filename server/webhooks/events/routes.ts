import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../tokens/access/access.ts';
import { EventView, viewEvent } from './schema.ts';
import type { Events } from './service.ts';

export function registerEvents(api: HttpServer, { events }: { events: Events }): void {
  const tags = ['Events'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  registerList(api, '/subscription_events', {
    access: read,
    operationId: 'listEvents',
    summary: 'List the events of the Organization',
    tags,
    filters: {
      guid: guidsFilter,
      event_type: wordsFilter,
      bank_guid: guidsFilter,
      object_guid: guidsFilter,
      environment: environmentsFilter,
      ...createdAtFilters,
    },
    errors: [422],
    item: EventView,
    view: viewEvent,
    list: ({ caller }, page, filters) => events.list(caller, page, filters),
  });

  registerGet(api, '/subscription_events/:guid', {
    access: read,
    operationId: 'getEvent',
    summary: 'Get an event',
    tags,
    errors: [422],
    item: EventView,
    view: viewEvent,
    get: ({ caller, params }) => events.get(caller, params.guid),
  });
}
