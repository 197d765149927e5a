import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../../../infrastructure/http/server.ts';
import { registerCreate } from '../../../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../../../../tokens/access/access.ts';
import type { Redeliveries } from './redeliveries.ts';
import { NewRecovery, RecoveryView, viewRedelivery } from './redelivery-schema.ts';

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
    summary: 'Redeliver all failed deliveries of a subscription in a time range',
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
