import type { Actor } from '../../../infrastructure/audit/service.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../../infrastructure/idempotency/record-answer.ts';
import type { RateLimit, RateLimits } from '../../../infrastructure/rate-limits/service.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import type { Events } from '../../events/service.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import type { Visible } from '../../visible.ts';
import { makeFirstDue } from '../queue/first-store.ts';
import type { DeliveryWithState } from '../state.ts';
import type { DeliverOnce } from './deliver-once.ts';

export type TestEvents = ReturnType<typeof createTestEvents>;

const TEST_EVENT_LIMIT = 30;
const RATE_LIMIT_WINDOW_MS = 5 * 60_000;
const PER_SUBSCRIPTION: RateLimit = {
  name: 'test_event',
  limit: TEST_EVENT_LIMIT,
  windowMs: RATE_LIMIT_WINDOW_MS,
  code: 'api_rate_limit_exceeded',
};

type Deps = {
  database: Database;
  clock: Clock;
  events: Events;
  subscriptions: Subscriptions;
  rateLimits: RateLimits;
  deliverOnce: DeliverOnce;
};

/**
 * Test events: `subscription.storing` of the subscription itself, which is true and triggers no action. They are signed,
 * sent and retried like any other event, but only this subscription receives them.
 */
export function createTestEvents({ database, clock, events, subscriptions, rateLimits, deliverOnce }: Deps) {
  return {
    async send(
      actor: Actor,
      visible: Visible,
      guid: string,
      recordAnswer: RecordAnswer<DeliveryWithState> = recordNothing,
    ): Promise<DeliveryWithState | Failure> {
      const subscription = await subscriptions.get(visible, guid);
      if (isFailure(subscription)) return subscription;
      const [endpoint] = await subscriptions.endpoints([guid]);
      if (endpoint?.disabled)
        return new Failure(
          'delivery_not_retryable',
          'The operator has disabled the subscription; ask the operator, or create a new subscription',
        );
      if (!endpoint?.delivers)
        return new Failure(
          'delivery_not_retryable',
          'The subscription no longer delivers; create a new subscription',
        );
      if (endpoint.paused)
        return new Failure('state_conflict', 'The subscription is paused; resume it to send a test event');
      const refused = await rateLimits.use(PER_SUBSCRIPTION, guid);
      if (refused) return refused;
      const { organizationGuid, environment } = endpoint;
      return database.transaction(async (transaction) => {
        const event = await events.record(transaction, {
          ...{ organizationGuid, environment, objectGuid: guid, eventType: 'subscription.storing' },
        });
        const delivery = await deliverOnce(transaction, actor, 'test_event', endpoint, event);
        // The test event waits for the first 2xx, so the first delivery is retried now instead.
        const deliveryGuid = endpoint.firstOnly?.deliveryGuid;
        if (deliveryGuid)
          await makeFirstDue(transaction, { subscriptionGuid: guid, deliveryGuid }, clock.now());
        await recordAnswer(transaction, delivery);
        return delivery;
      });
    },
  };
}
