import type { EndpointEffect } from '../../subscriptions/service.ts';
import type { Outcome } from '../delivery.ts';

/** One effect for each subscription and URL: the URL may have changed while requests were in flight. */
export function effectsOn(outcomes: readonly Outcome[]): EndpointEffect[] {
  const effects = new Map<string, EndpointEffect>();
  const inOrder = outcomes.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
  for (const { delivery, url, result, endedAt } of inOrder) {
    const guid = delivery.subscriptionGuid;
    const key = `${guid} ${url}`;
    const before = effects.get(key) ?? {
      guid,
      url,
      succeededAt: undefined,
      failingSince: undefined,
      at: endedAt,
    };
    effects.set(
      key,
      result === 'completed'
        ? { guid, url, succeededAt: endedAt, failingSince: undefined, at: endedAt }
        : { ...before, failingSince: before.failingSince ?? endedAt, at: endedAt },
    );
  }
  return [...effects.values()];
}
