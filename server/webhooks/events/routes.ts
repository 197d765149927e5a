import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../tokens/access/access.ts';
import type { EventStatus } from '../deliveries/event-status/event-status.ts';
import { EventView, eventStatusFilters, ListedEventView, viewEvent, viewListedEvent } from './schema.ts';
import type { Events } from './service.ts';

export function registerEvents(
  api: HttpServer,
  { events, eventStatus }: { events: Events; eventStatus: EventStatus },
): void {
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
      ...eventStatusFilters,
    },
    errors: [422],
    item: ListedEventView,
    view: viewListedEvent,
    list: ({ caller }, page, filters) => eventStatus.list(caller, page, filters),
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
