import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  registerGet,
  registerList,
  registerPatch,
} from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature, withFreshProof } from '../../tokens/access/access.ts';
import {
  CreatedSubscriptionView,
  NewSubscription,
  SubscriptionChanges,
  SubscriptionView,
  subscriptionFilters,
  viewSubscription,
  withSigningKey,
} from './schema.ts';
import type { Subscriptions } from './service.ts';

/** User tokens only: a leaked API key must not allow redirecting events to another URL. */
export function registerSubscriptions(
  api: HttpServer,
  { subscriptions }: { subscriptions: Subscriptions },
): void {
  const tags = ['Subscriptions'];
  const read = withFeature('webhooks', requires(['user'], 'subscriptions:read'));
  const write = withFreshProof(withFeature('webhooks', requires(['user'], 'subscriptions:write')));
  const execute = withFreshProof(withFeature('webhooks', requires(['user'], 'subscriptions:execute')));

  registerCreate(api, '/subscriptions', {
    access: write,
    operationId: 'createSubscription',
    summary: 'Create a webhook subscription; only this response has the signing_key',
    tags,
    body: NewSubscription,
    item: CreatedSubscriptionView,
    view: ({ subscription, signingKey }) => withSigningKey(viewSubscription(subscription), signingKey),
    errors: [404],
    showsSecret: true,
    create: (request, recordAnswer) =>
      subscriptions.create(actorOf(request), request.caller, request.body, recordAnswer),
  });

  registerList(api, '/subscriptions', {
    access: read,
    operationId: 'listSubscriptions',
    summary: 'List webhook subscriptions',
    tags,
    filters: subscriptionFilters,
    errors: [422],
    item: SubscriptionView,
    view: viewSubscription,
    list: ({ caller }, page, filters) => subscriptions.list(caller, page, filters),
  });

  registerGet(api, '/subscriptions/:guid', {
    access: read,
    operationId: 'getSubscription',
    summary: 'Get a webhook subscription, without its signing_key',
    tags,
    errors: [422],
    item: SubscriptionView,
    view: viewSubscription,
    get: ({ caller, params }) => subscriptions.get(caller, params.guid),
  });

  registerPatch(api, '/subscriptions/:guid', {
    access: write,
    operationId: 'updateSubscription',
    summary: 'Rename, move, pause or resume a webhook subscription',
    tags,
    body: SubscriptionChanges,
    errors: [409, 422, 429],
    item: SubscriptionView,
    view: viewSubscription,
    change: (request, precondition) => {
      const { caller, params, body } = request;
      return subscriptions.update(actorOf(request), caller, params.guid, body, precondition);
    },
  });

  api.delete(
    '/subscriptions/:guid',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'deleteSubscription',
        summary: 'Schedule the deletion of a webhook subscription; it delivers for another 24 hours',
        tags,
        params: GuidParams,
        response: answers({ 200: SubscriptionView }, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request) => {
      const { caller, params } = request;
      return viewSubscription(unwrap(await subscriptions.remove(actorOf(request), caller, params.guid)));
    },
  );
}
