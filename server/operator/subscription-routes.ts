import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import {
  ControlledSubscriptionView,
  CreatedControlledSubscriptionView,
  NewSubscription,
  SubscriptionControls,
  subscriptionFilters,
  viewControlled,
  withSigningKey,
} from '../webhooks/subscriptions/schema.ts';
import type { Subscriptions } from '../webhooks/subscriptions/service.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

export type SubscriptionDeps = {
  authentication: OperatorAuthentication;
  organizations: Organizations;
  subscriptions: Subscriptions;
};

/** The rules for partners apply here too; only the operator protects and disables subscriptions. */
export function registerSubscriptionRoutes(scope: HttpServer, deps: SubscriptionDeps): void {
  const { authentication, organizations, subscriptions } = deps;
  const tags = ['Operator: subscriptions'];

  registerCreate(scope, '/organizations/:guid/subscriptions', {
    access: operatorAccess('subscriptions create'),
    operationId: 'operatorCreateSubscription',
    summary: 'Create a webhook subscription for a partner; only this response has the signing_key',
    tags,
    params: GuidParams,
    body: NewSubscription,
    errors: [404],
    item: CreatedControlledSubscriptionView,
    view: ({ subscription, signingKey }) => withSigningKey(viewControlled(subscription), signingKey),
    showsSecret: true,
    create: (request, recordAnswer) => {
      const owner = { organizationGuid: request.params.guid };
      return subscriptions.create(authentication.actor(request), owner, request.body, recordAnswer);
    },
  });

  registerList(scope, '/organizations/:guid/subscriptions', {
    access: operatorAccess('subscriptions list'),
    operationId: 'operatorListSubscriptions',
    summary: 'List the webhook subscriptions of an Organization',
    tags,
    params: GuidParams,
    filters: subscriptionFilters,
    errors: [404],
    item: ControlledSubscriptionView,
    view: viewControlled,
    async list({ params }, page, filters) {
      const { guid } = unwrap(await organizations.get(params.guid));
      return subscriptions.list({ organizationGuid: guid }, page, filters);
    },
  });

  registerGet(scope, '/subscriptions/:guid', {
    access: operatorAccess('subscriptions get'),
    operationId: 'operatorGetSubscription',
    summary: 'Get a webhook subscription of any partner',
    tags,
    item: ControlledSubscriptionView,
    view: viewControlled,
    get: ({ params }) => subscriptions.get('any tenant', params.guid),
  });

  registerPatch(scope, '/subscriptions/:guid', {
    access: operatorAccess('subscriptions update'),
    operationId: 'operatorUpdateSubscription',
    summary: 'Protect a webhook subscription from deletion, or stop its deliveries',
    tags,
    body: SubscriptionControls,
    item: ControlledSubscriptionView,
    view: viewControlled,
    change: (request, precondition) =>
      subscriptions.control(authentication.actor(request), request.params.guid, request.body, precondition),
  });

  scope.delete(
    '/subscriptions/:guid',
    {
      schema: {
        ...operatorAccess('subscriptions delete').documented,
        operationId: 'operatorDeleteSubscription',
        summary: 'Schedule the deletion of a webhook subscription; it delivers for another 24 hours',
        tags,
        params: GuidParams,
        response: answers({ 200: ControlledSubscriptionView }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      return viewControlled(unwrap(await subscriptions.remove(actor, 'any tenant', request.params.guid)));
    },
  );
}
