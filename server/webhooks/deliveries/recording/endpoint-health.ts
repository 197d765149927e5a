import type { EndpointEffect } from '../../subscriptions/service.ts';
import type { Outcome } from '../delivery.ts';

export function effectsOn(outcomes: readonly Outcome[]): EndpointEffect[] {
  const effects = new Map<string, EndpointEffect>();
  const inOrder = outcomes.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
  for (const { delivery, result, endedAt, provenUrl } of inOrder) {
    const guid = delivery.subscriptionGuid;
    const before = effects.get(guid) ?? { guid, succeeded: false, failingSince: undefined, at: endedAt };
    effects.set(
      guid,
      result === 'completed'
        ? {
            ...{ guid, succeeded: true, failingSince: undefined, at: endedAt },
            ...(provenUrl ? { provenUrl } : before.provenUrl ? { provenUrl: before.provenUrl } : {}),
          }
        : { ...before, failingSince: before.failingSince ?? endedAt, at: endedAt },
    );
  }
  return [...effects.values()];
}
