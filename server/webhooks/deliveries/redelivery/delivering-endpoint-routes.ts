import type { Database } from '../../../infrastructure/database/database.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../../tokens/access/access.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import { TargetsView } from '../schema.ts';
import { findDeliveringEndpoints } from './delivering-endpoints.ts';

/**
 * Endpoints that events can be redelivered to, for callers without the scope to read subscriptions. The fields of a
 * subscription do not show whether the operator has disabled it.
 */
export function registerDeliveringEndpoints(
  api: HttpServer,
  deps: { database: Database; subscriptions: Subscriptions },
): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.get(
    '/subscription_targets',
    {
      config: { ...read.config, readsMany: true },
      schema: {
        ...read.documented,
        operationId: 'listSubscriptionTargets',
        summary: 'List the subscriptions that can receive redeliveries',
        tags: ['Deliveries'],
        response: answers({ 200: TargetsView }, 401, 403, 422),
      },
    },
    async ({ caller }) => {
      const endpoints = await findDeliveringEndpoints(deps, caller);
      return {
        objects: endpoints.map(({ guid, environment }) => ({ subscription_guid: guid, environment })),
      };
    },
  );
}
