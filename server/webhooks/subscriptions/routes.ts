import { unwrap } from '../../infrastructure/http/errors.ts';
import { envelope, listOf, pageOf } from '../../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, requires, withFeature, withFreshProof } from '../../tokens/access/access.ts';
import { filtersOf, SubscriptionQuery } from './query.ts';
import {
  CreatedSubscriptionView,
  NewSubscription,
  SubscriptionChanges,
  SubscriptionView,
  viewSubscription,
  withSigningKey,
} from './schema.ts';
import type { Subscriptions } from './service.ts';

/** Of people only: a key that leaks must not be able to send a copy of every event elsewhere. */
export function registerSubscriptions(
  api: HttpServer,
  { subscriptions }: { subscriptions: Subscriptions },
): void {
  const tags = ['Subscriptions'];
  const read = withFeature('webhooks', requires(['user'], 'subscriptions:read'));
  const write = withFreshProof(withFeature('webhooks', requires(['user'], 'subscriptions:write')));
  const execute = withFreshProof(withFeature('webhooks', requires(['user'], 'subscriptions:execute')));

  api.post(
    '/subscriptions',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'createSubscription',
        summary: 'Create a webhook subscription; signing_key is shown this once',
        tags,
        body: NewSubscription,
        response: answers({ 201: CreatedSubscriptionView }, 400, 401, 403, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const created = await subscriptions.create(actorOf(request), request.caller, request.body);
      const { subscription, signingKey } = unwrap(created);
      return reply.code(201).send(withSigningKey(viewSubscription(subscription), signingKey));
    },
  );

  api.get(
    '/subscriptions',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listSubscriptions',
        summary: 'List the webhook subscriptions of the token’s environment, or of both',
        tags,
        querystring: SubscriptionQuery,
        response: answers({ 200: listOf(SubscriptionView) }, 400, 401, 403, 422),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const found = unwrap(await subscriptions.list(request.caller, page, filtersOf(request.query)));
      return envelope(page, found, viewSubscription);
    },
  );

  api.get(
    '/subscriptions/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getSubscription',
        summary: 'Get a webhook subscription; its signing_key is never shown again',
        tags,
        params: GuidParams,
        response: answers({ 200: SubscriptionView }, 401, 403, 404, 422),
      },
    },
    async (request) => viewSubscription(unwrap(await subscriptions.get(request.caller, request.params.guid))),
  );

  api.patch(
    '/subscriptions/:guid',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'updateSubscription',
        summary: 'Change the name or the url of a webhook subscription',
        tags,
        params: GuidParams,
        body: SubscriptionChanges,
        response: answers({ 200: SubscriptionView }, 400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request) => {
      const { caller, params, body } = request;
      return viewSubscription(
        unwrap(await subscriptions.update(actorOf(request), caller, params.guid, body)),
      );
    },
  );

  api.delete(
    '/subscriptions/:guid',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'deleteSubscription',
        summary: 'Schedule the deletion of a webhook subscription; it delivers for 24 hours more',
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
