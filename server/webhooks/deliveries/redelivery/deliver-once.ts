import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Endpoint } from '../../subscriptions/service.ts';
import type { Enqueue, EventContent } from '../queue/enqueue.ts';
import { type DeliveryWithState, stateOf } from '../state.ts';
import { selectDelivery } from '../store.ts';

export type DeliverOnce = ReturnType<typeof createDeliverOnce>;

type Deps = { clock: Clock; audit: Audit; enqueueFor: Enqueue['enqueueFor'] };

/** Delivers one event to one subscription on request, with an audit record. */
export function createDeliverOnce({ clock, audit, enqueueFor }: Deps) {
  return async (
    transaction: Transaction,
    actor: Actor,
    as: 'redelivery' | 'test_event',
    endpoint: Endpoint,
    event: EventContent,
  ): Promise<DeliveryWithState> => {
    const { organizationGuid, guid: subscriptionGuid } = endpoint;
    const by = { type: actor.type === 'user' ? 'user' : 'application', id: actor.id } as const;
    const [created] = await enqueueFor(transaction, endpoint, [event], { as, by });
    const owned = { visible: { organizationGuid }, subscriptionGuids: [subscriptionGuid] };
    const delivery = created && (await selectDelivery(transaction, owned, created.guid));
    if (!delivery) throw new Error('the created delivery was not found');
    await audit.record(transaction, actor, {
      action: as === 'test_event' ? 'subscription_delivery.test' : 'subscription_delivery.create',
      organizationGuid,
      objectType: 'subscription_delivery',
      objectId: delivery.guid,
      changes: { subscription_event_guid: event.guid, subscription_guid: subscriptionGuid },
    });
    const waits = endpoint.paused || endpoint.firstOnly !== undefined;
    return { ...delivery, due_at: waits ? null : delivery.due_at, state: stateOf(delivery, clock.now()) };
  };
}
