import { GuidParams } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { registerCreate } from '../../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../../../tokens/access/access.ts';
import { DeliveryView, viewDelivery } from '../schema.ts';
import type { TestEvents } from './test-events.ts';

/** Requires the scope of redeliveries, which developers and keys have. */
export function registerTestEvents(api: HttpServer, { testEvents }: { testEvents: TestEvents }): void {
  const execute = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  registerCreate(api, '/subscriptions/:guid/test_event', {
    access: execute,
    operationId: 'sendTestEvent',
    summary: 'Send a test event to the endpoint of a subscription',
    tags: ['Subscriptions'],
    params: GuidParams,
    errors: [404],
    item: DeliveryView,
    view: viewDelivery,
    create: (request, recordAnswer) =>
      testEvents.send(actorOf(request), request.caller, request.params.guid, recordAnswer),
  });
}
