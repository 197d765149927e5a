import { unwrap } from '../../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../../../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../../../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../../../infrastructure/http/requests/schemas.ts';
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
        summary: 'Deliver everything once more that failed at a subscription in a window of time',
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

  api.get(
    '/subscription_recoveries',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listRecoveries',
        summary: 'List recoveries',
        tags,
        querystring: listQuery({
          guid: guidsFilter,
          state: wordsFilter,
          environment: environmentsFilter,
          subscription_guid: guidsFilter,
          ...createdAtFilters,
        }),
        response: answers({ 200: listOf(RecoveryView) }, 400, 401, 403, 422),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const found = unwrap(
        await recoveries.list(caller, page, {
          guid: values(query.guid),
          state: values(query.state),
          environment: values(query.environment),
          subscriptionGuid: values(query.subscription_guid),
          createdAtGte: moment(query.created_at_gte),
          createdAtLt: moment(query.created_at_lt),
        }),
      );
      return envelope(page, found, viewRecovery);
    },
  );

  api.get(
    '/subscription_recoveries/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getRecovery',
        summary: 'Get a recovery and how far it is',
        tags,
        params: GuidParams,
        response: answers({ 200: RecoveryView }, 401, 403, 404, 422),
      },
    },
    async ({ caller, params }) => viewRecovery(unwrap(await recoveries.get(caller, params.guid))),
  );
}
