import { useQuery } from '@tanstack/react-query';
import type { DeliveringSubscriptions, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const REFRESH_MS = 5_000;

/** Guids of the subscriptions that accept redeliveries; undefined while loading, or if the role may not redeliver. */
export function useDeliveringSubscriptions(): readonly string[] | undefined {
  const { api, can, has } = useWorkspace();
  const { data } = useQuery({
    // Shares the prefix of subscriptions, so that a change of theirs invalidates this list too.
    queryKey: [api.key, '/subscriptions', 'delivering'],
    queryFn: ({ signal }) => api.get<DeliveringSubscriptions>('/subscription_targets', { signal }),
    enabled: can('subscription_events:execute') && has('webhooks'),
    refetchInterval: REFRESH_MS,
  });
  return data?.objects.map(({ subscription_guid: guid }) => guid);
}

/** The subscription itself does not show that the operator disabled it. */
export function useIsDisabled({ guid, state }: Subscription): boolean {
  const delivering = useDeliveringSubscriptions();
  const shouldDeliver = state === 'storing' || state === 'active';
  return shouldDeliver && delivering !== undefined && !delivering.includes(guid);
}
