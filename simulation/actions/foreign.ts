import type { ModelSubscription } from '../world/model.ts';
import type { Node } from '../world/node.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk } from './calls.ts';

/** Invariant 4: a partner who asks for an event of another Organization or environment does not get it. */
export async function redeliverForeign(
  { model }: World,
  callAsFounder: Calls['callAsFounder'],
  subscription: ModelSubscription | undefined,
  node: Node,
  pick: number,
): Promise<void> {
  const foreign = [...model.events.values()].filter(
    (each) =>
      each.organizationGuid !== subscription?.organizationGuid ||
      each.environment !== subscription.environment,
  );
  const event = foreign[pick % foreign.length];
  if (!subscription?.guid || !event) return;
  const payload = { subscription_event_guid: event.guid, subscription_guid: subscription.guid };
  const options = { method: 'POST', url: '/api/subscription_deliveries', payload } as const;
  const answer = await callAsFounder(node, subscription.organizationGuid, options);
  model.check(
    !isOk(answer),
    () => `${node.name} delivers an event of another Organization or environment to ${subscription.url}`,
  );
}
