import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { List, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 100;
const FRESH_FOR_MS = 30_000;

/** The subscriptions of this environment, for those who may see them; others know them by their guid. */
export function useSubscriptionList(refetchInterval?: number): UseQueryResult<List<Subscription>> {
  const { api, can, environment, has } = useWorkspace();
  return useQuery({
    queryKey: [api.key, '/subscriptions', 'all'],
    queryFn: ({ signal }) =>
      api.get<List<Subscription>>('/subscriptions', { query: { environment, per_page: PER_PAGE }, signal }),
    enabled: can('subscriptions:read') && has('webhooks'),
    // Names seldom change; who wants to know how they do now asks at once, and again and again.
    ...(refetchInterval === undefined ? { staleTime: FRESH_FOR_MS } : { staleTime: 0, refetchInterval }),
  });
}

export function useSubscriptions(): readonly Subscription[] {
  return useSubscriptionList().data?.objects ?? [];
}

export function useSubscriptionName(): (guid: string) => string | undefined {
  const subscriptions = useSubscriptions();
  return (guid) => subscriptions.find((subscription) => subscription.guid === guid)?.name;
}
