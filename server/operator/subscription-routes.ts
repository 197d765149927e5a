import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { envelope, listOf, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { filtersOf, SubscriptionQuery } from '../webhooks/subscriptions/query.ts';
import {
  ControlledSubscriptionView,
  CreatedControlledSubscriptionView,
  NewSubscription,
  SubscriptionControls,
  viewControlled,
  withSigningKey,
} from '../webhooks/subscriptions/schema.ts';
import type { Subscriptions } from '../webhooks/subscriptions/service.ts';
import { type OperatorAuthentication, security } from './authentication.ts';

export type SubscriptionDeps = {
  authentication: OperatorAuthentication;
  organizations: Organizations;
  subscriptions: Subscriptions;
};

/** The rules for partners apply here too; only the operator protects and disables subscriptions. */
export function registerSubscriptionRoutes(scope: HttpServer, deps: SubscriptionDeps): void {
  const { authentication, organizations, subscriptions } = deps;
  const tags = ['Operator: subscriptions'];

  scope.post(
    '/organizations/:guid/subscriptions',
    {
      schema: {
        operationId: 'operator.subscriptions.create',
        summary: 'Create a webhook subscription for a partner; signing_key is shown this once',
        tags,
        security,
        params: GuidParams,
        body: NewSubscription,
        response: answers({ 201: CreatedControlledSubscriptionView }, 400, 401, 403, 404, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const actor = authentication.actor(request);
      const created = await subscriptions.create(
        actor,
        { organizationGuid: request.params.guid },
        request.body,
      );
      const { subscription, signingKey } = unwrap(created);
      return reply.code(201).send(withSigningKey(viewControlled(subscription), signingKey));
    },
  );

  scope.get(
    '/organizations/:guid/subscriptions',
    {
      schema: {
        operationId: 'operator.subscriptions.list',
        summary: 'List the webhook subscriptions of an Organization',
        tags,
        security,
        params: GuidParams,
        querystring: SubscriptionQuery,
        response: answers({ 200: listOf(ControlledSubscriptionView) }, 400, 401, 403, 404),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const { guid } = unwrap(await organizations.get(request.params.guid));
      const found = unwrap(
        await subscriptions.list({ organizationGuid: guid }, page, filtersOf(request.query)),
      );
      return envelope(page, found, viewControlled);
    },
  );

  scope.get(
    '/subscriptions/:guid',
    {
      schema: {
        operationId: 'operator.subscriptions.get',
        summary: 'Get a webhook subscription of any partner',
        tags,
        security,
        params: GuidParams,
        response: answers({ 200: ControlledSubscriptionView }, 401, 403, 404),
      },
    },
    async (request) => viewControlled(unwrap(await subscriptions.get('anyone', request.params.guid))),
  );

  scope.patch(
    '/subscriptions/:guid',
    {
      schema: {
        operationId: 'operator.subscriptions.update',
        summary: 'Protect a webhook subscription from deletion, or stop its deliveries',
        tags,
        security,
        params: GuidParams,
        body: SubscriptionControls,
        response: answers({ 200: ControlledSubscriptionView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      return viewControlled(unwrap(await subscriptions.control(actor, request.params.guid, request.body)));
    },
  );

  scope.delete(
    '/subscriptions/:guid',
    {
      schema: {
        operationId: 'operator.subscriptions.delete',
        summary:
          'Schedule the deletion of a subscription, as its partner would: it delivers for 24 more hours',
        tags,
        security,
        params: GuidParams,
        response: answers({ 200: ControlledSubscriptionView }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      return viewControlled(unwrap(await subscriptions.remove(actor, 'anyone', request.params.guid)));
    },
  );
}
