import { unwrap } from '../../../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { actorOf, requires, withFeature } from '../../../tokens/access/access.ts';
import { DeliveryView, viewDelivery } from '../schema.ts';
import type { TestEvents } from './test-events.ts';

/** Requires the scope of redeliveries, which developers have. */
export function registerTestEvents(api: HttpServer, { testEvents }: { testEvents: TestEvents }): void {
  const execute = withFeature('webhooks', requires(['user'], 'subscription_events:execute'));

  api.post(
    '/subscriptions/:guid/test_event',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'sendTestEvent',
        summary: 'Send a test event to the endpoint of a subscription',
        tags: ['Subscriptions'],
        params: GuidParams,
        response: answers({ 201: DeliveryView }, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      const delivery = unwrap(await testEvents.send(actorOf(request), caller, params.guid));
      return reply.code(201).send(viewDelivery(delivery));
    },
  );
}
