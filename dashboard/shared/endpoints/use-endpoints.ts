import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { EndpointHealth, List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 100;
const FRESH_FOR_MS = 30_000;
const REFRESH_MS = 5_000;

/** The endpoints of this environment with their health, for every role. */
export function useEndpoints(refetchInterval?: number): UseQueryResult<List<EndpointHealth>> {
  const { api, environment, has } = useWorkspace();
  return useQuery({
    // Shares the prefix of subscriptions, so that a change of theirs invalidates this list too.
    queryKey: [api.key, '/subscriptions', 'health'],
    queryFn: ({ signal }) =>
      api.get<List<EndpointHealth>>('/endpoint_health', {
        query: { environment, per_page: PER_PAGE },
        signal,
      }),
    enabled: has('webhooks'),
    // Callers without an interval only need the names, which seldom change.
    ...(refetchInterval === undefined ? { staleTime: FRESH_FOR_MS } : { staleTime: 0, refetchInterval }),
  });
}

/** By guid of the subscription. */
export function useEndpointsByGuid(refetchInterval?: number): ReadonlyMap<string, EndpointHealth> {
  const endpoints = useEndpoints(refetchInterval).data?.objects ?? [];
  return new Map(endpoints.map((endpoint) => [endpoint.subscription_guid, endpoint]));
}

export function useEndpoint(guid: string): EndpointHealth | undefined {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/endpoint_health', guid],
    queryFn: ({ signal }) => api.get<EndpointHealth>(`/endpoint_health/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return data;
}
