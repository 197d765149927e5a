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

/** User tokens only: a leaked API key must not allow redirecting events to another URL. */
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
        operationId: 'subscriptions.create',
        summary: 'Create a webhook subscription; signing_key is shown only once',
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
        operationId: 'subscriptions.list',
        summary: 'List webhook subscriptions',
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
        operationId: 'subscriptions.get',
        summary: 'Get a webhook subscription, without its signing_key',
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
        operationId: 'subscriptions.update',
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
        operationId: 'subscriptions.delete',
        summary: 'Delete a webhook subscription; it delivers for another 24 hours',
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
