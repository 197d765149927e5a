import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { List, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useEndpoints } from '../endpoints/use-endpoints.ts';

const PER_PAGE = 100;
const FRESH_FOR_MS = 30_000;

/** The subscriptions of this environment; no data if the role cannot view subscriptions. */
export function useSubscriptionList(refetchInterval?: number): UseQueryResult<List<Subscription>> {
  const { api, can, environment, has } = useWorkspace();
  return useQuery({
    queryKey: [api.key, '/subscriptions', 'all'],
    queryFn: ({ signal }) =>
      api.get<List<Subscription>>('/subscriptions', { query: { environment, per_page: PER_PAGE }, signal }),
    enabled: can('subscriptions:read') && has('webhooks'),
    // Callers without an interval only need the names, which seldom change.
    ...(refetchInterval === undefined ? { staleTime: FRESH_FOR_MS } : { staleTime: 0, refetchInterval }),
  });
}

export function useSubscriptions(): readonly Subscription[] {
  return useSubscriptionList().data?.objects ?? [];
}

/** For every role. */
export function useSubscriptionName(): (guid: string) => string | undefined {
  const endpoints = useEndpoints().data?.objects ?? [];
  return (guid) => endpoints.find(({ subscription_guid: own }) => own === guid)?.name;
}
