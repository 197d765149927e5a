import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Query } from '../../api/send.ts';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 20;

export type ListResult<Item> = UseQueryResult<List<Item>>;

type ListOptions<Item> = {
  /** In ms; may depend on what was read last. */
  refetchInterval?: number | ((list: List<Item> | undefined) => number);
  enabled?: boolean;
};

/** A page of a list of the API, by keyset; the page before stays until the next one is there. */
export function useList<Item>(
  path: string,
  query: Query,
  { refetchInterval, enabled = true }: ListOptions<Item> = {},
): ListResult<Item> {
  const { api } = useWorkspace();
  return useQuery({
    queryKey: [api.key, path, query],
    queryFn: ({ signal }) => api.get<List<Item>>(path, { query: { per_page: PER_PAGE, ...query }, signal }),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) =>
      typeof refetchInterval === 'function' ? refetchInterval(state.data) : (refetchInterval ?? false),
  });
}
