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
import type { Recoveries } from './redeliveries.ts';
import { NewRecovery, RecoveryView, viewRecovery } from './redelivery-schema.ts';

export function registerRecoveries(api: HttpServer, { recoveries }: { recoveries: Recoveries }): void {
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
      const recovery = unwrap(await recoveries.create(actorOf(request), caller, body));
      return reply.code(201).send(viewRecovery(recovery));
    },
  );

  registerList(api, '/subscription_recoveries', {
    access: read,
    operationId: 'listRecoveries',
    summary: 'List recoveries',
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
    view: viewRecovery,
    list: ({ caller }, page, filters) => recoveries.list(caller, page, filters),
  });

  registerGet(api, '/subscription_recoveries/:guid', {
    access: read,
    operationId: 'getRecovery',
    summary: 'Get a recovery and its progress',
    tags,
    errors: [422],
    item: RecoveryView,
    view: viewRecovery,
    get: ({ caller, params }) => recoveries.get(caller, params.guid),
  });
}
