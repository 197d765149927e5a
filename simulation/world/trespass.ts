import type { InjectOptions } from 'fastify';
import type { ModelSubscription } from './model.ts';
import type { CallResult, Node } from './node.ts';
import type { World } from './world.ts';

type Partner = {
  call(node: Node, options: InjectOptions, token?: string): Promise<CallResult>;
  tokenOf(node: Node, organizationGuid: string): Promise<string | undefined>;
};

/** Invariant 4: a partner who asks for an event of another Organization or environment does not get it. */
export async function redeliverForeign(
  { model }: World,
  { call, tokenOf }: Partner,
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
  const token = await tokenOf(node, subscription.organizationGuid);
  if (token === undefined) return;
  const payload = { subscription_event_guid: event.guid, subscription_guid: subscription.guid };
  const answer = await call(node, { method: 'POST', url: '/api/subscription_deliveries', payload }, token);
  model.check(
    answer === 'lost' || answer.status >= 400,
    () => `${node.name} delivers an event of another Organization or environment to ${subscription.url}`,
  );
}
