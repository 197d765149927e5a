import type { Database } from '../../../infrastructure/database/database.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../../tokens/access/access.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import { TargetsView } from '../schema.ts';
import { findTargets } from './targets.ts';

/**
 * For those who resend and may not see subscriptions, and because the fields of a subscription do not tell whether the
 * operator has stopped it: whoever knows beforehand need not be refused.
 */
export function registerTargets(
  api: HttpServer,
  deps: { database: Database; subscriptions: Subscriptions },
): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.get(
    '/subscription_targets',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listSubscriptionTargets',
        summary: 'List the subscriptions that can receive redeliveries',
        tags: ['Deliveries'],
        response: answers({ 200: TargetsView }, 401, 403, 422),
      },
    },
    async ({ caller }) => {
      const targets = await findTargets(deps, caller);
      return {
        objects: targets.map(({ guid, environment }) => ({ subscription_guid: guid, environment })),
      };
    },
  );
}
