import { useQuery } from '@tanstack/react-query';
import type { List, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useEndpoints } from '../endpoints/use-endpoints.ts';

const PER_PAGE = 100;
const FRESH_FOR_MS = 30_000;

/** The subscriptions of this environment; empty if the role cannot manage subscriptions. */
export function useSubscriptions(): readonly Subscription[] {
  const { api, can, environment, has } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/subscriptions', 'all'],
    queryFn: ({ signal }) =>
      api.get<List<Subscription>>('/subscriptions', { query: { environment, per_page: PER_PAGE }, signal }),
    enabled: can('subscriptions:read') && has('webhooks'),
    staleTime: FRESH_FOR_MS,
  });
  return data?.objects ?? [];
}

/** For every role. */
export function useSubscriptionName(): (guid: string) => string | undefined {
  const endpoints = useEndpoints().data?.objects ?? [];
  return (guid) => endpoints.find(({ subscription_guid: own }) => own === guid)?.name;
}
