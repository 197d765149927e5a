import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  completedAtFilters,
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import { answers } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, requires, withFeature } from '../../tokens/access/access.ts';
import {
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
    list: ({ caller }, page, { subscriptionEventGuid: eventGuid, ...filters }) =>
      deliveries.list(caller, page, { ...filters, eventGuid }),
  });

  registerGet(api, '/subscription_deliveries/:guid', {
    access: read,
    operationId: 'getDelivery',
    summary: 'Get a delivery with its attempts',
    tags,
    errors: [422],
    item: DetailedDeliveryView,
    view: viewDetailedDelivery,
    get: ({ caller, params }) => deliveries.get(caller, params.guid),
  });

  api.post(
    '/subscription_deliveries',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'createDelivery',
        summary: 'Redeliver an event to a subscription, with a new retry cycle',
        tags,
        body: NewDelivery,
        response: answers({ 201: DeliveryView }, 400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const delivery = unwrap(await deliveries.redeliver(actorOf(request), caller, body));
      return reply.code(201).send(viewDelivery(delivery));
    },
  );
}
