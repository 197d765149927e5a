import { useQuery } from '@tanstack/react-query';
import type { EndpointTimeline, Range } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';

const REFRESH_MS = 15_000;

export function useTimeline(guid: string, range: Range): EndpointTimeline | undefined {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/endpoint_health', guid, 'timeline', range],
    queryFn: ({ signal }) =>
      api.get<EndpointTimeline>(`/endpoint_health/${guid}/timeline`, { query: { range }, signal }),
    refetchInterval: REFRESH_MS,
  });
  return data;
}
