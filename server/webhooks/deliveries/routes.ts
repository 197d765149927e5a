import {
  completedAtFilters,
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../../tokens/access/access.ts';
import { holdsScope } from '../../tokens/scopes.ts';
import { SignedRequestView } from './attempts/attempt-schema.ts';
import type { SignedRequest } from './attempts/attempts.ts';
import {
  attemptedFilter,
  DeliveryView,
  DetailedDeliveryView,
  NewDelivery,
  viewDelivery,
  viewDetailedDelivery,
} from './schema.ts';
import type { Deliveries } from './service.ts';

export function registerDeliveries(api: HttpServer, { deliveries }: { deliveries: Deliveries }): void {
  const tags = ['Deliveries'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const execute = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  registerList(api, '/subscription_deliveries', {
    access: read,
    operationId: 'listDeliveries',
    summary: 'List deliveries',
    tags,
    filters: {
      guid: guidsFilter,
      state: wordsFilter,
      attempted: attemptedFilter,
      event_type: wordsFilter,
      environment: environmentsFilter,
      subscription_guid: guidsFilter,
      subscription_event_guid: guidsFilter,
      bank_guid: guidsFilter,
      ...createdAtFilters,
      ...completedAtFilters,
    },
    errors: [422],
    item: DeliveryView,
    view: viewDelivery,
    list: ({ caller }, page, { subscriptionEventGuid: eventGuid, attempted, ...filters }) =>
      deliveries.list(caller, page, {
        ...filters,
        eventGuid,
        attempted: attempted && attempted[0] === 'true',
      }),
  });

  registerGet(api, '/subscription_deliveries/:guid', {
    access: read,
    operationId: 'getDelivery',
    summary: 'Get a delivery with its attempts',
    tags,
    errors: [422],
    item: DetailedDeliveryView,
    view: viewDetailedDelivery,
    get: ({ caller, params }) => {
      const url = holdsScope(caller.scopes, 'subscriptions:read');
      const signatures = url || holdsScope(caller.scopes, 'subscription_events:execute');
      return deliveries.get(caller, params.guid, { url, signatures });
    },
  });

  // A signature of the present time lets its holder send the event, so this requires the right to redeliver.
  registerGet(api, '/subscription_deliveries/:guid/request', {
    access: withFeature('webhooks', requires(['user'], 'subscriptions:read', 'subscription_events:execute')),
    operationId: 'getSignedDeliveryRequest',
    summary: 'Get the request of a delivery, signed with the present time',
    tags,
    errors: [422],
    item: SignedRequestView,
    view: (request: SignedRequest) => ({ method: 'POST' as const, ...request }),
    get: ({ caller, params }) => deliveries.signedRequest(caller, params.guid),
  });

  registerCreate(api, '/subscription_deliveries', {
    access: execute,
    operationId: 'createDelivery',
    summary: 'Redeliver an event to a subscription, with a new retry cycle',
    tags,
    body: NewDelivery,
    errors: [404],
    item: DeliveryView,
    view: viewDelivery,
    create: (request, recordAnswer) =>
      deliveries.redeliver(actorOf(request), request.caller, request.body, recordAnswer),
  });
}
