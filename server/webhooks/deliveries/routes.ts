import type { Static } from 'typebox';
import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, requires, withFeature } from '../../tokens/access/access.ts';
import {
  DeliveryView,
  DetailedDeliveryView,
  NewDelivery,
  viewDelivery,
  viewDetailedDelivery,
} from './schema.ts';
import type { AskedFilters, Deliveries } from './service.ts';

const DeliveryQuery = listQuery({
  guid: guidsFilter,
  state: wordsFilter,
  event_type: wordsFilter,
  environment: environmentsFilter,
  subscription_guid: guidsFilter,
  subscription_event_guid: guidsFilter,
  bank_guid: guidsFilter,
  ...createdAtFilters,
});

function filtersOf(query: Static<typeof DeliveryQuery>): AskedFilters {
  return {
    guid: values(query.guid),
    state: values(query.state),
    eventType: values(query.event_type),
    environment: values(query.environment),
    subscriptionGuid: values(query.subscription_guid),
    eventGuid: values(query.subscription_event_guid),
    bankGuid: values(query.bank_guid),
    createdAtGte: moment(query.created_at_gte),
    createdAtLt: moment(query.created_at_lt),
  };
}

export function registerDeliveries(api: HttpServer, { deliveries }: { deliveries: Deliveries }): void {
  const tags = ['Deliveries'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const execute = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  api.get(
    '/subscription_deliveries',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listDeliveries',
        summary: 'List deliveries, with the time of the next attempt of those that wait for one',
        tags,
        querystring: DeliveryQuery,
        response: answers({ 200: listOf(DeliveryView) }, 400, 401, 403, 422),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const found = unwrap(await deliveries.list(caller, page, filtersOf(query)));
      return envelope(page, found, viewDelivery);
    },
  );

  api.get(
    '/subscription_deliveries/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getDelivery',
        summary: 'Get a delivery with its last attempts',
        tags,
        params: GuidParams,
        response: answers({ 200: DetailedDeliveryView }, 401, 403, 404, 422),
      },
    },
    async ({ caller, params }) => viewDetailedDelivery(unwrap(await deliveries.get(caller, params.guid))),
  );

  api.post(
    '/subscription_deliveries',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'createDelivery',
        summary: 'Deliver an event to a subscription once more, with a new cycle of attempts',
        tags,
        body: NewDelivery,
        response: answers({ 201: DeliveryView }, 400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const delivery = unwrap(await deliveries.restart(actorOf(request), caller, body));
      return reply.code(201).send(viewDelivery(delivery));
    },
  );
}
