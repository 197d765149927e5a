import { unwrap } from '../../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../../infrastructure/http/requests/resource-routes.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { actorOf, requires, withFeature } from '../../../tokens/access/access.ts';
import type { Redeliveries } from './redeliveries.ts';
import { NewRecovery, RecoveryView, viewRedelivery } from './redelivery-schema.ts';

export function registerRedeliveries(
  api: HttpServer,
  { redeliveries }: { redeliveries: Redeliveries },
): void {
  const tags = ['Deliveries'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const execute = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  api.post(
    '/subscription_recoveries',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'createRecovery',
        summary: 'Redeliver all failed deliveries of a subscription in a time range',
        tags,
        body: NewRecovery,
        response: answers({ 201: RecoveryView }, 400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const redelivery = unwrap(await redeliveries.create(actorOf(request), caller, body));
      return reply.code(201).send(viewRedelivery(redelivery));
    },
  );

  registerList(api, '/subscription_recoveries', {
    access: read,
    operationId: 'listRecoveries',
    summary: 'List redeliveries',
    tags,
    filters: {
      guid: guidsFilter,
      state: wordsFilter,
      environment: environmentsFilter,
      subscription_guid: guidsFilter,
      ...createdAtFilters,
    },
    errors: [422],
    item: RecoveryView,
    view: viewRedelivery,
    list: ({ caller }, page, filters) => redeliveries.list(caller, page, filters),
  });

  registerGet(api, '/subscription_recoveries/:guid', {
    access: read,
    operationId: 'getRecovery',
    summary: 'Get a redelivery and its progress',
    tags,
    errors: [422],
    item: RecoveryView,
    view: viewRedelivery,
    get: ({ caller, params }) => redeliveries.get(caller, params.guid),
  });
}
