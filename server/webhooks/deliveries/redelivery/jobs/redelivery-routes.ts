import { unwrap } from '../../../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../../../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../../infrastructure/http/server.ts';
import { registerCreate } from '../../../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../../../../tokens/access/access.ts';
import type { Redeliveries } from './redeliveries.ts';
import {
  NewRecovery,
  PreviewParams,
  PreviewQuery,
  PreviewView,
  RecoveryView,
  viewPreview,
  viewRedelivery,
} from './redelivery-schema.ts';

export function registerRedeliveries(
  api: HttpServer,
  { redeliveries }: { redeliveries: Redeliveries },
): void {
  const tags = ['Deliveries'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const execute = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  registerCreate(api, '/subscription_recoveries', {
    access: execute,
    operationId: 'createRecovery',
    summary: 'Redeliver the failed deliveries, the waiting ones or all events of a time range',
    tags,
    body: NewRecovery,
    errors: [404],
    item: RecoveryView,
    view: viewRedelivery,
    create: (request, recordAnswer) =>
      redeliveries.create(actorOf(request), request.caller, request.body, recordAnswer),
  });

  registerList(api, '/subscription_recoveries', {
    access: read,
    operationId: 'listRecoveries',
    summary: 'List redeliveries',
    tags,
    filters: {
      guid: guidsFilter,
      state: wordsFilter,
      kind: wordsFilter,
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

  api.delete(
    '/subscription_recoveries/:guid',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'cancelRecovery',
        summary:
          'Cancel a redelivery if it is running; it stays in the list, and deliveries that it created are sent',
        tags,
        params: GuidParams,
        response: answers({ 200: RecoveryView }, 401, 403, 404, 413, 415, 422),
      },
    },
    async (request) => {
      const { caller, params } = request;
      return viewRedelivery(unwrap(await redeliveries.cancel(actorOf(request), caller, params.guid)));
    },
  );

  registerGet(api, '/subscription_recovery_previews/:subscription_guid', {
    access: { ...read, config: { ...read.config, readsMany: true } },
    operationId: 'previewRecovery',
    summary: 'Count the deliveries that a redelivery of a time range would send',
    tags,
    params: PreviewParams,
    querystring: PreviewQuery,
    errors: [400, 409, 422],
    item: PreviewView,
    view: viewPreview,
    get: ({ caller, params, query }) => redeliveries.preview(caller, { ...params, ...query }),
  });
}
