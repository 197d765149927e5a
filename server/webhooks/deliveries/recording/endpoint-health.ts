import type { Outcome } from '../delivery.ts';

/** What a batch of outcomes says of one endpoint. */
export type EndpointEffect = {
  guid: string;
  /** There was a success among them. */
  succeeded: boolean;
  /** The first failure after the last success, or the first failure at all. */
  failingSince: Date | undefined;
  at: Date;
  /** The URL that answered the first delivery, if one of the successes did. */
  provenUrl?: string | undefined;
};

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
